export { type NamespaceInput, type PutNamespaceError, putNamespace } from './put-namespace.js';
export { listNamespaces, readNamespace } from './read-namespaces.js';
export { type RemoveNamespaceError, removeNamespace } from './remove-namespace.js';
