export type { AllocationCommandError, Conversation } from './ask-node.js';
export {
  listAllocationFiles,
  readAllocationFile,
  statAllocationFile,
  streamAllocationFile,
  streamTaskLogs,
} from './read-allocation-files.js';
export { type ExecInput, execInAllocation, type RunActionInput, runJobAction } from './run-in-allocation.js';
export {
  type RestartAllocationInput,
  readAllocationChecks,
  readAllocationStats,
  restartAllocation,
  type SignalAllocationInput,
  signalAllocation,
} from './steer-allocation.js';
export { type StopAllocationInput, type StoppedAllocation, stopAllocation } from './stop-allocation.js';
