export { type JobReference, namespaceOf } from '../shared/job-reference.js';
