export type { AgentMembers, AgentSelf } from './describe-agent.js';
export { probeStore } from './probe-store.js';
export type { Metrics } from './read-metrics.js';
