import { okAsync, ResultAsync } from 'neverthrow';
import type { Health, systemCalls } from '../../api/calls/system-calls.js';
import type { Bindings } from '../binding.js';
import { type EngineContext, ownAddress } from '../context/engine-context.js';
import { describeAgent, listMembers, listServers, readRaftConfiguration } from './describe-agent.js';
import { monitorLog } from './monitor-log.js';
import { readMetrics } from './read-metrics.js';
import { readStoreStatus } from './store-figures.js';
import { storeHealth } from './store-health.js';

/** The operations of the calls about the server itself. */
export const systemBindings: Bindings<typeof systemCalls> = {
  health: () => okAsync({ ok: true, message: 'ok' }),
  ready: (context) => healthOf(context),
  agentHealth: (context, _caller, { type }) =>
    healthOf(context).map((health) => ({
      ...(type === undefined || type === 'server' ? { server: health } : {}),
      ...(type === undefined || type === 'client' ? { client: health } : {}),
    })),
  agentSelf: describeAgent,
  members: listMembers,
  servers: listServers,
  monitor: (context, caller, input, { signal }) => monitorLog(context, caller, input, signal),
  metrics: readMetrics,
  leader: (context) => okAsync(ownAddress(context)),
  peers: (context) => okAsync([ownAddress(context)]),
  raftConfiguration: readRaftConfiguration,
  store: readStoreStatus,
  regions: ({ settings }) => okAsync([settings.jobs.region]),
};

function healthOf(context: EngineContext): ResultAsync<Health, never> {
  return ResultAsync.fromSafePromise(storeHealth(context));
}
