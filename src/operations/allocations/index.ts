export {
  listAllocationFiles,
  readAllocationFile,
  statAllocationFile,
  streamAllocationFile,
  streamTaskLogs,
} from './read-allocation-files.js';
export { execInAllocation, runJobAction } from './run-in-allocation.js';
export {
  readAllocationChecks,
  readAllocationStats,
  restartAllocation,
  signalAllocation,
} from './steer-allocation.js';
export { type StoppedAllocation, stopAllocation } from './stop-allocation.js';
