export {
  type CallFunctionOptions,
  callFunction,
  type FunctionCall,
} from '../../src/operations/functions/call-function.js';
export * from '../memory/index.js';
export { functionDriver, type TaskFunction } from '../runner/index.js';
export type { Behaviour, SimulatedAgents } from './simulated-agents.js';
export { type TestEngine, type TestEngineOptions, testEngine } from './test-engine.js';
