export {
  type AgentMember,
  type AgentMembers,
  type AgentSelf,
  describeAgent,
  listMembers,
  listServers,
} from './describe-agent.js';
export { type MonitorLogInput, monitorLog } from './monitor-log.js';
export { probeStore } from './probe-store.js';
export { type Gauge, type MetricSum, type Metrics, readMetrics } from './read-metrics.js';
