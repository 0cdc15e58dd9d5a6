export type { StreamEnd } from '../../src/agent/output/output-tail.js';
export type { TaskExit } from '../../src/agent/task/decide-restart.js';
export type { ArtifactLimits } from './artifacts/task-artifacts.js';
export type { TaskPaths } from './disk/task-target.js';
export { type FunctionCall, functionDriver, type TaskFunction } from './drivers/function-driver.js';
export { type RawExecOptions, rawExecDriver } from './drivers/raw-exec-driver.js';
export type { RecoverOutcome, RunningTask, StartOutcome, TaskDriver, TaskStart } from './drivers/task-driver.js';
export { type HttpAgentLinkOptions, httpAgentLink } from './http-agent-link.js';
export type { HostOptions, HostVolume, VolumeUnusable } from './node/describe-host.js';
export {
  createRunner,
  type Runner,
  type RunnerFault,
  type RunnerOptions,
  type RunnerPorts,
  type StopRunnerOptions,
} from './runner.js';
