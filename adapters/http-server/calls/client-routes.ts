import type { HttpMethod } from '../../../src/api/call.js';

/** A route that existing clients of the job interface use, whether or not this server provides it. */
interface ClientRoute {
  readonly methods: readonly [HttpMethod, ...HttpMethod[]];
  readonly path: string;
}

const read = ['GET'] as const;
const write = ['PUT', 'POST'] as const;
const remove = ['DELETE'] as const;
const crud = ['GET', 'PUT', 'POST', 'DELETE'] as const;

/** A group of paths below one prefix that answer to the same methods. */
function routes(methods: ClientRoute['methods'], prefix: string, ...paths: readonly string[]): readonly ClientRoute[] {
  return paths.map((path) => ({ methods, path: prefix + path }));
}

/**
 * Every route of the job interface that existing clients call. The route table serves those that it contains; a
 * request for any other route is refused as not provided instead of matching another route.
 */
export const clientRoutes: readonly ClientRoute[] = [
  ...routes(read, '/v1/jobs', '', '/statuses'),
  ...routes(write, '/v1/jobs', '', '/parse'),
  { methods: ['POST'], path: '/v1/jobs/statuses' },
  ...routes(crud, '/v1/job/{job_id}', ''),
  ...routes(read, '/v1/job/{job_id}', '/allocations', '/evaluations', '/summary', '/versions', '/deployments'),
  ...routes(read, '/v1/job/{job_id}', '/deployment', '/scale', '/services', '/submission', '/actions', '/action'),
  ...routes(write, '/v1/job/{job_id}', '/evaluate', '/periodic/force', '/plan', '/dispatch', '/dispatch/payload'),
  ...routes(write, '/v1/job/{job_id}', '/revert', '/stable', '/scale', '/versions/{name}/tag'),
  ...routes(remove, '/v1/job/{job_id}', '/versions/{name}/tag'),
  ...routes(write, '/v1/validate', '/job'),
  ...routes(read, '/v1/evaluations', '', '/count'),
  ...routes(remove, '/v1/evaluations', ''),
  ...routes(read, '/v1/evaluation/{evaluation_id}', '', '/allocations'),
  ...routes(read, '/v1/allocations', ''),
  ...routes(read, '/v1/allocation/{allocation_id}', '', '/services', '/checks'),
  ...routes(write, '/v1/allocation/{allocation_id}', '/stop'),
  ...routes(read, '/v1/deployments', ''),
  ...routes(read, '/v1/deployment', '/{deployment_id}', '/allocations/{deployment_id}'),
  ...routes(write, '/v1/deployment', '/fail/{deployment_id}', '/pause/{deployment_id}', '/promote/{deployment_id}'),
  ...routes(write, '/v1/deployment', '/allocation-health/{deployment_id}', '/unblock/{deployment_id}'),
  ...routes(write, '/v1/deployment', '/cancel/{deployment_id}'),
  ...routes(read, '/v1/nodes', ''),
  ...routes(read, '/v1/node/{node_id}', '', '/allocations'),
  ...routes(write, '/v1/node/{node_id}', '/drain', '/eligibility', '/evaluate', '/purge'),
  ...routes(read, '/v1/node', '/pools', '/pool/{name}', '/pool/{name}/jobs', '/pool/{name}/nodes'),
  ...routes(write, '/v1/node', '/pools', '/pool', '/pool/{name}'),
  ...routes(remove, '/v1/node', '/pool/{name}'),
  ...routes(read, '/v1/namespaces', ''),
  ...routes(write, '/v1/namespace', ''),
  ...routes(crud, '/v1/namespace/{name}', ''),
  ...routes(read, '/v1/client/fs', '/ls/{allocation_id}', '/stat/{allocation_id}', '/cat/{allocation_id}'),
  ...routes(read, '/v1/client/fs', '/readat/{allocation_id}', '/stream/{allocation_id}', '/logs/{allocation_id}'),
  ...routes(read, '/v1/client/allocation/{allocation_id}', '/stats', '/checks', '/exec', '/snapshot', '/pause', '/gc'),
  ...routes(write, '/v1/client/allocation/{allocation_id}', '/restart', '/signal', '/pause', '/gc'),
  ...routes(read, '/v1/client', '/stats', '/gc', '/metadata', '/identity'),
  ...routes(write, '/v1/client', '/gc', '/metadata', '/identity/renew'),
  ...routes(write, '/v1/search', '', '/fuzzy'),
  ...routes(read, '/v1/scaling', '/policies', '/policy/{policy_id}'),
  ...routes(read, '/v1/services', ''),
  ...routes(read, '/v1/service', '/{service_name}'),
  ...routes(remove, '/v1/service', '/{service_name}/{service_id}'),
  ...routes(read, '/v1/vars', ''),
  ...routes(crud, '/v1/var/{path}', ''),
  ...routes(read, '/v1/event', '/stream'),
  ...routes(read, '/v1', '/metrics', '/regions', '/status/leader', '/status/peers'),
  ...routes(['PUT'], '/v1/system', '/gc', '/reconcile/summaries'),
  ...routes(read, '/v1/agent', '/self', '/members', '/servers', '/health', '/host', '/monitor', '/monitor/export'),
  ...routes(read, '/v1/agent', '/schedulers', '/schedulers/config', '/keyring/list', '/pprof/{kind}'),
  ...routes(
    write,
    '/v1/agent',
    '/join',
    '/force-leave',
    '/reload',
    '/servers',
    '/schedulers/config',
    '/keyring/{operation}',
  ),
  ...routes(remove, '/v1/agent', '/keyring/remove'),
  ...routes(read, '/v1/operator', '/scheduler/configuration', '/autopilot/configuration', '/autopilot/health'),
  ...routes(write, '/v1/operator', '/scheduler/configuration', '/autopilot/configuration'),
  ...routes(read, '/v1/operator', '/raft/configuration', '/keyring/keys', '/snapshot', '/license', '/utilization'),
  ...routes(write, '/v1/operator', '/raft/transfer-leadership', '/keyring/rotate', '/snapshot', '/license'),
  ...routes(remove, '/v1/operator', '/raft/peer', '/keyring/key/{key_id}'),
  ...routes(read, '/v1/operator', '/upgrade-check/{kind}'),
  ...routes(write, '/v1/operator', '/utilization'),
  ...routes(write, '/v1/acl', '/bootstrap', '/token', '/token/onetime', '/token/onetime/exchange', '/login'),
  ...routes(read, '/v1/acl', '/policies', '/policy/self', '/tokens', '/token/self', '/roles', '/auth-methods'),
  ...routes(crud, '/v1/acl', '/policy/{name}', '/token/{accessor_id}', '/role/{role_id}', '/auth-method/{name}'),
  ...routes(read, '/v1/acl', '/role/name/{name}', '/binding-rules'),
  ...routes(write, '/v1/acl', '/role', '/auth-method', '/binding-rule', '/oidc/auth-url', '/oidc/complete-auth'),
  ...routes(write, '/v1/acl', '/identity/client-introduction-token'),
  ...routes(crud, '/v1/acl', '/binding-rule/{rule_id}'),
  ...routes(read, '/v1/volumes', '/claims'),
  ...routes(remove, '/v1/volumes', '/claim/{claim_id}'),
  ...routes(read, '/v1', '/volumes', '/volumes/external', '/volumes/snapshot', '/plugins', '/plugin/csi/{plugin_id}'),
  ...routes(write, '/v1/volumes', '', '/snapshot'),
  ...routes(remove, '/v1/volumes', '/snapshot'),
  ...routes(crud, '/v1/volume', '/csi/{volume_id}', '/host/{volume_id}'),
  ...routes(write, '/v1/volume', '/csi/{volume_id}/create', '/host/create', '/host/register'),
  ...routes(remove, '/v1/volume', '/csi/{volume_id}/detach', '/csi/{volume_id}/delete', '/host/{volume_id}/delete'),
  ...routes(read, '/v1', '/quotas', '/quota-usages', '/quota/usage/{name}', '/recommendations', '/sentinel/policies'),
  ...routes(write, '/v1', '/quota', '/recommendation', '/recommendations/apply'),
  ...routes(crud, '/v1', '/quota/{name}', '/recommendation/{recommendation_id}', '/sentinel/policy/{name}'),
  ...routes(read, '/.well-known', '/jwks.json', '/openid-configuration'),
];
