export type { VariableWritten } from './conflict-answer.js';
export { type PutVariableError, type PutVariableInput, putVariable } from './put-variable.js';
export { type ListVariablesInput, listVariables, type ReadVariableInput, readVariable } from './read-variables.js';
export { type RemoveVariableInput, removeVariable } from './remove-variable.js';
export { type RenewLockInput, renewLock } from './renew-lock.js';
