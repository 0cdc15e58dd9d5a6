/*
 * The operation of every call, and all background loops, loaded together by `local-transport.ts`. The rows of `src/api` name the calls;
 * this is the column that only a process with an engine needs, so that clients bundle no operation. A row without its operation, or with one
 * of another form, does not compile.
 */

import { okAsync, ResultAsync } from 'neverthrow';
import { accessText } from './api/access.js';
import { type Api, api } from './api/index.js';
import { readCallerRights } from './operations/access/caller-rights.js';
import { listOwnPolicies, listPolicies, putPolicy, readPolicy, removePolicy } from './operations/access/policies.js';
import { listRoles, putRole, readRole, removeRole } from './operations/access/roles.js';
import { bootstrapFirstToken } from './operations/access/tokens/bootstrap-management-token.js';
import { listTokenStubs } from './operations/access/tokens/list-token-stubs.js';
import { createOneTimeToken, exchangeOneTimeToken } from './operations/access/tokens/one-time-token.js';
import { readOwnToken, readToken } from './operations/access/tokens/read-token.js';
import { removeToken, saveToken } from './operations/access/tokens/save-token.js';
import { tokenExpiryLoop } from './operations/access/tokens/token-expiry-loop.js';
import { tryPolicyOn } from './operations/access/try-policy.js';
import { listAllocationFiles, statAllocationFile } from './operations/allocations/read-allocation-files.js';
import { readTaskLog } from './operations/allocations/read-task-log.js';
import { cancelJobRestart, jobRestartLoop, readJobRestart, restartJob } from './operations/allocations/restart-job.js';
import { listJobActions } from './operations/allocations/run-in-allocation.js';
import {
  collectAllocation,
  collectOnNodes,
  readAllocationChecks,
  readAllocationStats,
  readHostUsage,
  restartAllocation,
  signalAllocation,
} from './operations/allocations/steer-allocation.js';
import { stopAllocation } from './operations/allocations/stop-allocation.js';
import {
  execOverSocket,
  readFileBytes,
  runActionOverSocket,
  streamFileFrames,
  streamLogs,
} from './operations/allocations/streams-and-sockets.js';
import { type BackgroundLoop, ownAddress } from './operations/context/engine-context.js';
import { readSeries } from './operations/context/series.js';
import {
  failDeployment,
  pauseDeployment,
  promoteDeployment,
  setAllocationHealth,
  unblockDeployment,
} from './operations/deployments/actions.js';
import { deploymentLoop } from './operations/deployments/deployment-loop.js';
import { streamEvents } from './operations/events/stream-events.js';
import {
  cancelFunctionRun,
  cancelFunctionRuns,
  enqueueFunction,
  pauseFunction,
  resumeFunction,
  retryFunctionRun,
  retryFunctionRuns,
} from './operations/functions/change-functions.js';
import {
  explainFunctionRun,
  listFunctionRuns,
  listFunctions,
  readFunction,
  readFunctionRun,
  readFunctionRunLog,
} from './operations/functions/read-functions.js';
import { deleteEvaluations } from './operations/jobs/delete-evaluations.js';
import { dispatchJob } from './operations/jobs/dispatch-job.js';
import { evaluateJob } from './operations/jobs/evaluate-job.js';
import { revertJob, setJobStability, tagJobVersion, untagJobVersion } from './operations/jobs/job-versions.js';
import { listJobStatuses, listNamedJobStatuses } from './operations/jobs/reading/list-job-statuses.js';
import { listJobs, listPoolJobs } from './operations/jobs/reading/list-jobs.js';
import { explainJobPlacement, listSchedules, tryExpressions } from './operations/jobs/reading/outlook.js';
import {
  listAllocations,
  listDeploymentAllocations,
  listEvaluationAllocations,
  listJobAllocations,
  readAllocation,
} from './operations/jobs/reading/read-allocations.js';
import {
  listDeployments,
  listJobDeployments,
  readDeployment,
  readLatestDeployment,
} from './operations/jobs/reading/read-deployments.js';
import { countFailures, listEndedRuns } from './operations/jobs/reading/read-ended-runs.js';
import {
  countEvaluations,
  listEvaluations,
  listJobEvaluations,
  readEvaluation,
} from './operations/jobs/reading/read-evaluations.js';
import { compareJobVersions, readJob, readJobSubmission, readJobSummary } from './operations/jobs/reading/read-job.js';
import { readJobScaleStatus } from './operations/jobs/reading/read-scale-status.js';
import { listScalingPolicies, readScalingPolicy } from './operations/jobs/reading/read-scaling-policies.js';
import { parseJobSource } from './operations/jobs/registration/parse-job-source.js';
import { planJob } from './operations/jobs/registration/plan-job.js';
import { registerJob } from './operations/jobs/registration/register-job.js';
import { simulateJob } from './operations/jobs/registration/simulate-job.js';
import { validateSubmittedJob } from './operations/jobs/registration/validate-submitted-job.js';
import { scaleJob } from './operations/jobs/scale-job.js';
import { stopJob } from './operations/jobs/stop-job.js';
import { collectGarbage, collectionLoop } from './operations/maintenance/collect.js';
import { reconcileSummaries } from './operations/maintenance/reconcile-summaries.js';
import { listNamespaces, putNamespace, readNamespace, removeNamespace } from './operations/namespaces/namespaces.js';
import { commandRelayLoop } from './operations/node-commands/command-relay-loop.js';
import { drainNode, setNodeEligibility } from './operations/nodes/drain-and-eligibility.js';
import { drainLoop } from './operations/nodes/drain-loop.js';
import { evaluateNode } from './operations/nodes/evaluate-node.js';
import { applyNodeMetadata, readNodeMetadata } from './operations/nodes/node-metadata.js';
import {
  listNodePoolNodes,
  listNodePools,
  putNodePool,
  readNodePool,
  removeNodePool,
} from './operations/nodes/node-pools.js';
import { purgeNode } from './operations/nodes/purge-node.js';
import { listNodeAllocations } from './operations/nodes/read-node-allocations.js';
import { readSchedulerConfiguration, setSchedulerConfiguration } from './operations/nodes/scheduler-configuration.js';
import { createNotificationConfiguration } from './operations/notifications/configurations/create-notification-configuration.js';
import {
  listNotificationConfigurations,
  showDestinationHealth,
  showNotificationConfiguration,
} from './operations/notifications/configurations/list-notification-configurations.js';
import {
  deleteNotificationConfiguration,
  pauseNotificationConfiguration,
  resumeNotificationConfiguration,
} from './operations/notifications/configurations/pause-and-delete-configuration.js';
import { putNotificationConfiguration } from './operations/notifications/configurations/put-notification-configuration.js';
import {
  enableNotificationConfiguration,
  updateNotificationConfiguration,
} from './operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from './operations/notifications/configurations/verify-notification-configuration.js';
import { deliveryLoop } from './operations/notifications/delivery/delivery-loop.js';
import {
  listEventTypes,
  putEventType,
  removeEventType,
  showEventType,
} from './operations/notifications/events/event-types.js';
import {
  eraseNotificationEvent,
  listNotificationEvents,
  showNotificationEvent,
} from './operations/notifications/events/events-log.js';
import {
  explainEvent,
  sendNotificationEvent,
  sendSampleEvent,
} from './operations/notifications/events/send-notification-event.js';
import {
  listDeliveries,
  listDeliveriesOfWorkspace,
  showDelivery,
} from './operations/notifications/log/list-deliveries.js';
import {
  cancelBulkRedelivery,
  countRecoverableOfDocument,
  listBulkRedeliveries,
  recoverDeliveriesOfDocument,
  showBulkRedelivery,
  startBulkRedeliveryOfDocument,
} from './operations/notifications/log/recoveries.js';
import { recoveryLoop } from './operations/notifications/log/recovery-loop.js';
import { redeliver } from './operations/notifications/log/redeliver.js';
import { retentionLoop } from './operations/notifications/log/retention-loop.js';
import { searchNotifications } from './operations/notifications/search.js';
import {
  listMemberships,
  listOrganizations,
  listWorkspaces,
  showAccount,
  showEntitlements,
  showMembership,
  showOrganization,
  showWorkspace,
  showWorkspaceNamed,
} from './operations/notifications/workspaces/organizations.js';
import { createPortalToken } from './operations/notifications/workspaces/portal-tokens.js';
import {
  putUser,
  putWorkspace,
  removeUser,
  removeWorkspace,
} from './operations/notifications/workspaces/workspaces-and-users.js';
import { type Operations, ofDocument } from './operations/operation.js';
import { forceLaunch, periodicLaunchLoop } from './operations/periodic/launches.js';
import { evaluationLoop } from './operations/scheduling/evaluation-loop.js';
import { nodeLivenessLoop } from './operations/scheduling/node-liveness-loop.js';
import { listNodes, readNode } from './operations/scheduling/read-nodes.js';
import {
  commandsForAgent,
  heartbeatOfAgent,
  leaveOfAgent,
  registerNodeOfAgent,
  reportOfAgent,
  variablesOfAgent,
  workOfAgent,
} from './operations/scheduling/serve-agents.js';
import { waitingJobsLoop } from './operations/scheduling/waiting-jobs-loop.js';
import { fuzzySearch, search } from './operations/search/search.js';
import {
  listAllocationServices,
  listJobServices,
  listServices,
  readService,
  removeService,
} from './operations/services/read-services.js';
import { describeAgent, listMembers, listServers, readRaftConfiguration } from './operations/store/describe-agent.js';
import { monitorLog } from './operations/store/monitor-log.js';
import { readMetrics } from './operations/store/read-metrics.js';
import { readStoreStatus } from './operations/store/store-figures.js';
import { healthOfAgent, storeHealth } from './operations/store/store-health.js';
import { variableLockLoop } from './operations/variables/lock-loop.js';
import { listVariables, readVariable } from './operations/variables/read-variables.js';
import { removeVariable, writeVariable } from './operations/variables/write-variable.js';

const tried = tryPolicyOn(api, accessText);

/** The operation of every call of the interface. */
export const operations: { readonly [A in keyof Api]: Operations<Api[A]> } = {
  jobs: {
    list: listJobs,
    statuses: listJobStatuses,
    statusesOf: listNamedJobStatuses,
    placement: explainJobPlacement,
    schedules: listSchedules,
    runs: listEndedRuns,
    failures: countFailures,
    trySchedule: tryExpressions,
    register: registerJob,
    update: registerJob,
    parse: parseJobSource,
    validate: validateSubmittedJob,
    plan: planJob,
    read: readJob,
    submission: readJobSubmission,
    versions: compareJobVersions,
    allocations: listJobAllocations,
    evaluations: listJobEvaluations,
    deployments: listJobDeployments,
    latestDeployment: readLatestDeployment,
    summary: readJobSummary,
    dispatch: dispatchJob,
    dispatchPayload: dispatchJob,
    revert: revertJob,
    setStability: setJobStability,
    evaluate: evaluateJob,
    stop: stopJob,
    scaleStatus: readJobScaleStatus,
    scale: scaleJob,
    tagVersion: tagJobVersion,
    untagVersion: untagJobVersion,
    forceLaunch,
    restart: restartJob,
    simulate: simulateJob,
    readRestart: readJobRestart,
    cancelRestart: cancelJobRestart,
    actions: listJobActions,
    runAction: runActionOverSocket,
    services: listJobServices,
  },
  functions: {
    list: listFunctions,
    read: readFunction,
    runs: listFunctionRuns,
    run: readFunctionRun,
    explain: explainFunctionRun,
    log: readFunctionRunLog,
    enqueue: enqueueFunction,
    cancel: cancelFunctionRuns,
    retry: retryFunctionRuns,
    pause: pauseFunction,
    resume: resumeFunction,
    cancelRun: cancelFunctionRun,
    retryRun: retryFunctionRun,
  },
  evaluations: {
    list: listEvaluations,
    count: countEvaluations,
    delete: deleteEvaluations,
    read: readEvaluation,
    allocations: listEvaluationAllocations,
  },
  allocations: {
    list: listAllocations,
    read: readAllocation,
    stop: stopAllocation,
    restart: restartAllocation,
    signal: signalAllocation,
    stats: readAllocationStats,
    clientChecks: readAllocationChecks,
    checks: readAllocationChecks,
    collect: collectAllocation,
    exec: execOverSocket,
    services: listAllocationServices,
  },
  services: { list: listServices, read: readService, remove: removeService },
  files: {
    list: listAllocationFiles,
    stat: statAllocationFile,
    read: readFileBytes,
    readAt: readFileBytes,
    stream: streamFileFrames,
    logs: streamLogs,
    readLog: readTaskLog,
  },
  deployments: {
    list: listDeployments,
    read: readDeployment,
    allocations: listDeploymentAllocations,
    fail: failDeployment,
    pause: pauseDeployment,
    promote: promoteDeployment,
    setHealth: setAllocationHealth,
    unblock: unblockDeployment,
  },
  nodes: {
    list: listNodes,
    read: readNode,
    allocations: listNodeAllocations,
    setEligibility: setNodeEligibility,
    drain: drainNode,
    evaluate: evaluateNode,
    purge: purgeNode,
    readMeta: readNodeMetadata,
    applyMeta: applyNodeMetadata,
    stats: readHostUsage,
    collect: collectOnNodes,
  },
  agents: {
    register: registerNodeOfAgent,
    heartbeat: heartbeatOfAgent,
    work: workOfAgent,
    variables: variablesOfAgent,
    report: reportOfAgent,
    leave: leaveOfAgent,
    commands: commandsForAgent,
  },
  nodePools: {
    list: listNodePools,
    read: readNodePool,
    nodes: listNodePoolNodes,
    put: putNodePool,
    putNamed: putNodePool,
    remove: removeNodePool,
    jobs: listPoolJobs,
  },
  scheduler: { readConfiguration: readSchedulerConfiguration, setConfiguration: setSchedulerConfiguration },
  maintenance: {
    collectGarbage,
    reconcileSummaries: (context, caller) => reconcileSummaries(context, caller).map(() => undefined),
  },
  namespaces: {
    list: listNamespaces,
    read: readNamespace,
    put: putNamespace,
    putNamed: putNamespace,
    remove: removeNamespace,
  },
  cluster: { events: streamEvents },
  variables: { list: listVariables, read: readVariable, put: writeVariable, remove: removeVariable },
  policies: {
    list: listPolicies,
    self: listOwnPolicies,
    read: readPolicy,
    put: putPolicy,
    try: tried,
    remove: removePolicy,
  },
  roles: {
    list: listRoles,
    read: readRole,
    readNamed: readRole,
    create: putRole,
    update: putRole,
    remove: removeRole,
  },
  tokens: {
    list: listTokenStubs,
    self: readOwnToken,
    rights: readCallerRights,
    read: readToken,
    create: saveToken,
    update: saveToken,
    remove: removeToken,
    createOneTime: createOneTimeToken,
    exchangeOneTime: exchangeOneTimeToken,
    bootstrap: bootstrapFirstToken,
  },
  search: { prefix: search, fuzzy: fuzzySearch },
  scaling: { policies: listScalingPolicies, policy: readScalingPolicy },
  notifications: {
    ping: () => okAsync(undefined),
    create: createNotificationConfiguration,
    list: listNotificationConfigurations,
    show: showNotificationConfiguration,
    update: updateNotificationConfiguration,
    delete: deleteNotificationConfiguration,
    verify: verifyNotificationConfiguration,
    enable: enableNotificationConfiguration,
    pause: pauseNotificationConfiguration,
    resume: resumeNotificationConfiguration,
    health: showDestinationHealth,
    declare: putNotificationConfiguration,
    search: searchNotifications,
    sendSample: sendSampleEvent,
    send: sendNotificationEvent,
  },
  deliveries: {
    list: listDeliveries,
    ofWorkspace: listDeliveriesOfWorkspace,
    show: showDelivery,
    redeliver,
    recover: recoverDeliveriesOfDocument,
  },
  events: {
    list: listNotificationEvents,
    show: showNotificationEvent,
    erase: eraseNotificationEvent,
    explain: explainEvent,
  },
  recoveries: {
    count: countRecoverableOfDocument,
    start: startBulkRedeliveryOfDocument,
    list: listBulkRedeliveries,
    show: showBulkRedelivery,
    cancel: cancelBulkRedelivery,
  },
  eventTypes: {
    list: listEventTypes,
    show: showEventType,
    put: ofDocument(putEventType, ({ name, type }) => ({ ...type, name })),
    remove: removeEventType,
  },
  organizations: {
    list: listOrganizations,
    show: showOrganization,
    entitlements: showEntitlements,
    memberships: listMemberships,
    membership: showMembership,
  },
  workspaces: {
    put: ofDocument(putWorkspace, ({ id, workspace }) => ({ ...workspace, id })),
    createPortalToken,
    remove: removeWorkspace,
    list: listWorkspaces,
    named: showWorkspaceNamed,
    show: showWorkspace,
  },
  account: { show: showAccount },
  users: { put: ofDocument(putUser, ({ id, user }) => ({ ...user, id })), remove: removeUser },
  system: {
    health: () => okAsync({ ok: true, message: 'ok' }),
    ready: (context) => ResultAsync.fromSafePromise(storeHealth(context)),
    agentHealth: healthOfAgent,
    agentSelf: describeAgent,
    members: listMembers,
    servers: listServers,
    monitor: monitorLog,
    metrics: readMetrics,
    series: (context, _caller, { range = 'hour' }) => okAsync(readSeries(context, range)),
    leader: (context) => okAsync(ownAddress(context)),
    peers: (context) => okAsync([ownAddress(context)]),
    raftConfiguration: readRaftConfiguration,
    store: readStoreStatus,
    regions: ({ settings }) => okAsync([settings.jobs.region]),
  },
};

/** The background loops of every area. */
export const loops: readonly BackgroundLoop[] = [
  deliveryLoop,
  recoveryLoop,
  retentionLoop,
  evaluationLoop,
  nodeLivenessLoop,
  waitingJobsLoop,
  periodicLaunchLoop,
  drainLoop,
  deploymentLoop,
  collectionLoop,
  tokenExpiryLoop,
  variableLockLoop,
  commandRelayLoop,
  jobRestartLoop,
];

export { mayPerform } from './access/allows.js';
export { workloadCaller } from './operations/access/tokens/authenticate-token.js';
/* What the host of an engine and agents in its process use, beside the calls. */
export { bootstrapManagementToken } from './operations/access/tokens/bootstrap-management-token.js';
export { listTokens, putToken } from './operations/access/tokens/put-token.js';
export { createSession, readSession, removeSession } from './operations/access/tokens/sessions.js';
export { listNodeWork } from './operations/scheduling/list-node-work.js';
export { readTaskVariables } from './operations/scheduling/read-task-variables.js';
export { heartbeatNode, leaveNode, registerNode } from './operations/scheduling/register-node.js';
export { reportAllocations } from './operations/scheduling/report-allocations.js';
export { probeStore } from './operations/store/store-health.js';
export { checkStoredSecrets, resealStoredSecrets } from './operations/store/stored-secrets.js';
export { transact } from './transaction.js';
