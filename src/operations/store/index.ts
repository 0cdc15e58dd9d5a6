export { probeStore } from './probe-store.js';
