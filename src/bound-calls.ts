import { errAsync, okAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from './access/principal.js';
import type { CallInput } from './api/answers.js';
import type { ErrorTag } from './api/errors.js';
import type { Api } from './api/index.js';
import { quoted } from './api/quoted.js';
import type { UnknownRegion } from './jobs/errors.js';
import { policyBindings, roleBindings, tokenBindings } from './operations/access/access-bindings.js';
import {
  actionBindings,
  allocationCommandBindings,
  fileBindings,
  nodeCommandBindings,
} from './operations/allocations/allocation-command-bindings.js';
import type { AnyBinding, Bindings, CallManner } from './operations/binding.js';
import { callerAfterWaiting } from './operations/books/caller-standing.js';
import { isOfTokenStore } from './operations/books/presented-secret.js';
import type { EngineContext } from './operations/context/engine-context.js';
import { deploymentActionBindings } from './operations/deployments/deployment-bindings.js';
import { clusterBindings } from './operations/events/cluster-bindings.js';
import {
  allocationBindings,
  deploymentBindings,
  evaluationBindings,
  jobBindings,
  planBindings,
  poolJobBindings,
  scalingBindings,
} from './operations/jobs/job-bindings.js';
import { maintenanceBindings } from './operations/maintenance/maintenance-bindings.js';
import { namespaceBindings } from './operations/namespaces/namespace-bindings.js';
import {
  nodeActionBindings,
  nodeMetadataBindings,
  nodePoolBindings,
  schedulerBindings,
} from './operations/nodes/node-bindings.js';
import {
  deliveryBindings,
  notificationBindings,
} from './operations/notifications/configurations/notification-bindings.js';
import {
  eventBindings,
  eventTypeBindings,
  recoveryBindings,
  userBindings,
  workspaceBindings,
} from './operations/notifications/events/event-bindings.js';
import {
  accountBindings,
  organizationBindings,
  workspaceReadBindings,
} from './operations/notifications/workspaces/organization-bindings.js';
import { periodicBindings } from './operations/periodic/periodic-bindings.js';
import { agentBindings } from './operations/scheduling/agent-bindings.js';
import { nodeBindings } from './operations/scheduling/node-bindings.js';
import { searchBindings } from './operations/search/search-bindings.js';
import {
  allocationServiceBindings,
  jobServiceBindings,
  serviceBindings,
} from './operations/services/service-bindings.js';
import { systemBindings } from './operations/store/system-bindings.js';
import { variableBindings } from './operations/variables/variable-bindings.js';

/** The operation of every call of the interface. */
const bindings: { readonly [A in keyof Api]: Bindings<Api[A]> } = {
  jobs: { ...jobBindings, ...planBindings, ...periodicBindings, ...actionBindings, ...jobServiceBindings },
  evaluations: evaluationBindings,
  allocations: { ...allocationBindings, ...allocationCommandBindings, ...allocationServiceBindings },
  services: serviceBindings,
  files: fileBindings,
  deployments: { ...deploymentBindings, ...deploymentActionBindings },
  nodes: { ...nodeBindings, ...nodeActionBindings, ...nodeMetadataBindings, ...nodeCommandBindings },
  agents: agentBindings,
  nodePools: { ...nodePoolBindings, ...poolJobBindings },
  scheduler: schedulerBindings,
  maintenance: maintenanceBindings,
  namespaces: namespaceBindings,
  cluster: clusterBindings,
  variables: variableBindings,
  policies: policyBindings,
  roles: roleBindings,
  tokens: tokenBindings,
  search: searchBindings,
  scaling: scalingBindings,
  notifications: notificationBindings,
  deliveries: deliveryBindings,
  events: eventBindings,
  recoveries: recoveryBindings,
  eventTypes: eventTypeBindings,
  organizations: organizationBindings,
  workspaces: { ...workspaceBindings, ...workspaceReadBindings },
  account: accountBindings,
  users: userBindings,
  system: systemBindings,
};

/** Identifies a call by its area and its name there. */
export interface CallName {
  /** The member of the client: `jobs`, `nodes`, `notifications`, …. */
  readonly area: string;
  /** The method of that member, such as `register`. */
  readonly method: string;
}

/** Performs one call. */
export type PerformCall = (
  call: CallName,
  caller: Principal,
  input: CallInput,
  manner: CallManner,
) => ResultAsync<unknown, { readonly type: ErrorTag }>;

/** All calls of an engine, for the client in process and the HTTP adapter alike. */
export function boundCalls(context: EngineContext): PerformCall {
  return ({ area, method }, caller, input, manner) => {
    const region = input['region'];
    if (region !== undefined && region !== '' && region !== context.settings.jobs.region) {
      return errAsync(unknownRegion(String(region)));
    }
    const calls = bindings[area as keyof Api] as unknown as Readonly<Record<string, AnyBinding>>;
    const call = calls[method] as AnyBinding;
    if (manner.waiting.after === undefined) return call(context, caller, input, manner);
    const owned = { ...manner, waiting: { ...manner.waiting, owner: caller.accessor } };
    return isOfTokenStore(caller)
      ? afterWaiting(context, caller, owned, (asCaller, asManner) => call(context, asCaller, input, asManner))
      : call(context, caller, input, owned);
  };
}

type Answering = (caller: Principal, manner: CallManner) => ReturnType<AnyBinding>;

/** Repeats a read with the caller's current rights when they changed while it waited. */
function afterWaiting(
  context: EngineContext,
  caller: Principal,
  manner: CallManner,
  answer: Answering,
): ReturnType<AnyBinding> {
  let isChanged = false;
  const whenRightsChanged = (): void => {
    isChanged = true;
  };
  return answer(caller, { ...manner, waiting: { ...manner.waiting, whenRightsChanged } }).andThen((answered) => {
    if (!isChanged) return okAsync(answered);
    return callerAfterWaiting(context, caller).andThen(
      (found): ReturnType<AnyBinding> =>
        found === undefined ? errAsync({ type: 'permission_denied' }) : answer(found, { ...manner, waiting: {} }),
    );
  });
}

/** There is one region. Clients match the beginning of the message. */
function unknownRegion(region: string): UnknownRegion {
  return { type: 'unknown_region', region, message: `No path to region: this server does not know ${quoted(region)}` };
}
