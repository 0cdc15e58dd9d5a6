import { errAsync } from 'neverthrow';
import { allows, everyNamespace, type PermissionDenied } from '../../../access/allows.js';
import type { Capability } from '../../../access/capability.js';
import type { Principal } from '../../../access/principal.js';
import type { ScalingPolicy } from '../../../jobs/document/policies.js';
import { jobs, namespaceOf } from '../../../jobs/job-record.js';
import { type ScalingPolicyStub, scalingPoliciesOf, scalingPolicyStub } from '../../../jobs/scaling/scaling-records.js';
import type { ReadView } from '../../../ports/storage.js';
import type { EngineContext } from '../../context/engine-context.js';
import { someNamespace } from '../../records/declared-rows.js';
import { answerQuery } from '../../waiting/blocking-query.js';
import { type NamespaceQuery, queryKey, type Read, visibilityOf } from './read-query.js';

interface ListScalingPoliciesInput extends NamespaceQuery {
  readonly prefix?: string;
  /** Only policies of this job. */
  readonly job?: string;
  /** Only policies whose type begins with this string. */
  readonly type?: string;
}

/** Whether the caller has the capability itself, or both that let it read the jobs with the policies. */
function maySee(caller: Principal, own: Capability): (namespace: string) => boolean {
  return (namespace) =>
    allows(caller, namespace, [own]) ||
    (allows(caller, namespace, ['list-jobs']) && allows(caller, namespace, ['read-job']));
}

/** The scaling policies of the jobs of a namespace, or of all that the caller may list, by ID. Index: that of the jobs table, or 0 if there is no such namespace. */
export function listScalingPolicies(
  context: EngineContext,
  caller: Principal,
  input: ListScalingPoliciesInput,
): Read<readonly ScalingPolicyStub[], PermissionDenied> {
  const namespace = namespaceOf(input);
  const sees = maySee(caller, 'list-scaling-policies');
  if (namespace !== everyNamespace && !sees(namespace)) return errAsync({ type: 'permission_denied' });
  const { prefix = '', job = '', type = '' } = input;
  const query = {
    key: () => queryKey('scaling-policies', namespace, rightsKey(caller), prefix, job, type),
    tables: visibilityOf(caller, namespace, ['list-scaling-policies']).rows(jobs),
    run: (view: ReadView) => ({
      index: namespace !== everyNamespace || someNamespace(view, sees) ? view.tableIndex(jobs) : 0,
      value: policiesIn(view, namespace, sees, job)
        .filter(({ ID, Type }) => ID.startsWith(prefix) && Type.startsWith(type))
        .map(scalingPolicyStub)
        .sort((left, right) => (left.ID < right.ID ? -1 : 1)),
    }),
  };
  return answerQuery(context, query, input.waiting);
}

/** One scaling policy; undefined when it does not exist or the caller may not read it. */
export function readScalingPolicy(
  context: EngineContext,
  caller: Principal,
  input: NamespaceQuery & { readonly id: string },
): Read<ScalingPolicy | undefined, PermissionDenied> {
  const sees = maySee(caller, 'read-scaling-policy');
  const id = input.id.toLowerCase();
  if (!sees(namespaceOf(input))) return errAsync({ type: 'permission_denied' });
  const query = {
    key: () => queryKey('scaling-policy', id, rightsKey(caller)),
    tables: visibilityOf(caller, everyNamespace, ['read-scaling-policy']).rows(jobs),
    run: (view: ReadView) => {
      const value = policiesIn(view, everyNamespace, sees, '').find(({ ID }) => ID === id);
      return { index: value?.ModifyIndex ?? view.tableIndex(jobs), value };
    },
  };
  return answerQuery(context, query, input.waiting);
}

/** Differs between callers who may see different policies. */
function rightsKey(caller: Principal): string {
  return caller.management ? '' : JSON.stringify(caller.namespaces);
}

function policiesIn(
  view: ReadView,
  namespace: string,
  sees: (namespace: string) => boolean,
  job: string,
): readonly ScalingPolicy[] {
  return view
    .list(jobs, { index: 'scaled', ...(namespace === everyNamespace ? {} : { prefix: [namespace] }) })
    .map(({ record }) => record)
    .filter(({ Namespace, ID }) => sees(Namespace) && (job === '' || ID === job))
    .flatMap(scalingPoliciesOf);
}
