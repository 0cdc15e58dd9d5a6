import type { Principal } from '../../access/principal.js';
import type { ReadView } from '../../ports/storage.js';
import type { EngineContext } from '../shared/context.js';
import { namespaceOf } from './job-reference.js';
import type { JobQuery } from './read-job.js';
import { type NamespaceQuery, queryKey, type Read, readQuery } from './read-query.js';

/*
 * Updates are not yet rolled out by deployments: no job has one. The reads say so in the shapes that readers expect, so
 * that a client which looks for a deployment after a registration goes on.
 */

/** The deployments of a job: none. */
export function listJobDeployments(
  context: EngineContext,
  caller: Principal,
  input: JobQuery & { readonly all?: boolean },
): Read<readonly never[]> {
  return noDeployments(context, caller, input, []);
}

/** The newest deployment of a job: none. */
export function readLatestDeployment(context: EngineContext, caller: Principal, input: JobQuery): Read<null> {
  return noDeployments(context, caller, input, null);
}

/** The deployments of a namespace: none. */
export function listDeployments(
  context: EngineContext,
  caller: Principal,
  input: NamespaceQuery,
): Read<readonly never[]> {
  return noDeployments(context, caller, input, []);
}

function noDeployments<T>(context: EngineContext, caller: Principal, input: NamespaceQuery, value: T): Read<T> {
  const namespace = namespaceOf(input);
  const query = {
    key: queryKey('deployments', namespace, value),
    tables: [],
    // A table that nothing was written to has index 1.
    run: (_view: ReadView) => ({ index: 1, value }),
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}
