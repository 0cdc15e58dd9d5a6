export type { AgentMembers, AgentSelf, RaftConfiguration } from './describe-agent.js';
export { type ExportSink, exportStore } from './export/export-store.js';
export type { InvalidExport } from './export/read-store-export.js';
export { probeStore } from './probe-store.js';
export type { Metrics } from './read-metrics.js';
export { checkStoredSecrets, type StoredSecretsCheck } from './secrets/check-stored-secrets.js';
export { resealStoredSecrets } from './secrets/reseal-stored-secrets.js';
export type { StoreStatus } from './store-figures.js';
