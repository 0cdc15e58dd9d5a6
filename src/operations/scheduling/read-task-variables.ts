import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { allowsVariable, everyNamespace } from '../../access/allows.js';
import { policies } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import {
  MAX_LISTED_VARIABLES,
  MAX_TASK_READS,
  type TaskVariables,
  type TaskVariablesQuery,
} from '../../agent/link/node-work.js';
import type { AgentRefused, LinkFailed, UnknownNode } from '../../ports/agent-link.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { readPage } from '../../queries/page.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { nodeOwners } from '../../scheduler/nodes/node-owner.js';
import { textHash } from '../../scheduler/text-hash.js';
import type { VariableName, VariableRead } from '../../templates/index.js';
import { type StoredVariable, variables } from '../../variables/variable.js';
import type { EngineContext } from '../context/engine-context.js';
import { everythingSeen, namespacedSource } from '../listing/answer-list.js';
import { readWorkload } from '../records/caller-standing.js';
import { readAllocationJob } from '../records/jobs/job-rows.js';
import { decryptItems } from '../records/stored-secrets.js';
import { isAgentOf } from './node-ownership.js';

type Fault = UnknownNode | AgentRefused | LinkFailed | StorageError;

/**
 * The variables that the templates of a task read, with the rights of the task (guide to templates). With `known` it waits until
 * the result changes or the signal aborts.
 */
export function readTaskVariables(
  context: EngineContext,
  query: TaskVariablesQuery,
  signal: AbortSignal,
): ResultAsync<TaskVariables, Fault> {
  if (query.variables.length > MAX_TASK_READS || query.prefixes.length > MAX_TASK_READS) {
    return errAsync(refused(`The templates of a task may read at most ${MAX_TASK_READS} variables`));
  }
  return new ResultAsync(waitForOther(context, query, signal));
}

async function waitForOther(
  context: EngineContext,
  query: TaskVariablesQuery,
  signal: AbortSignal,
): Promise<Result<TaskVariables, Fault>> {
  for (;;) {
    const read = await context.storage.read((view) => ({ index: view.index, answer: answer(context, view, query) }));
    if (read.isErr()) return err(read.error);
    const { index, answer: found } = read.value;
    if (found.isErr() || found.value.version !== query.known || signal.aborted) return found;
    await context.storage.waitForChange([variables, policies, nodeOwners], index, signal);
  }
}

function answer(context: EngineContext, view: ReadView, query: TaskVariablesQuery): Result<TaskVariables, Fault> {
  if (!isAgentOf(view, query.nodeId, query.instance)) return err({ type: 'node_not_found', nodeId: query.nodeId });
  const who = taskOf(view, query);
  if (who.isErr()) return err(who.error);
  const { task, namespace } = who.value;
  const found = query.variables.map((read) => readable(view, task, namespace, read));
  const lists = query.prefixes.map((read) => listed(view, task, namespace, read));
  const version = versionOf(found, lists);
  // A caller with this version gets only the version: both lists are empty.
  if (version === query.known) return ok({ version, items: [], lists: [] });
  const items: (Readonly<Record<string, string>> | null)[] = [];
  for (const variable of found) {
    const opened = variable === undefined ? ok(null) : decryptItems(context, variable);
    if (opened.isErr()) return err({ type: 'link_failed', message: opened.error.message });
    items.push(opened.value);
  }
  return ok({ version, items, lists });
}

/** The task as a caller. A dispatched or periodic instance has the rights of its parent job. */
function taskOf(
  view: ReadView,
  { nodeId, allocationId, task }: TaskVariablesQuery,
): Result<{ readonly task: Principal; readonly namespace: string }, AgentRefused> {
  const allocation = workingOn(view, nodeId, allocationId);
  const job = allocation === undefined ? undefined : readAllocationJob(view, allocation)?.record;
  const group = job?.TaskGroups.find(({ Name }) => Name === allocation?.TaskGroup);
  if (allocation === undefined || job === undefined || !group?.Tasks.some(({ Name }) => Name === task)) {
    return err(refused('The node has no such task'));
  }
  const jobId = job.ParentID === '' ? job.ID : job.ParentID;
  const { Namespace: namespace } = allocation;
  return ok({ task: readWorkload(view, { namespace, jobId, group: group.Name, task }), namespace });
}

/**
 * An allocation of the node, unless the node has reported its end: a node may read variables only for its own unfinished work. A
 * lost allocation may still have poststop tasks to run.
 */
function workingOn(view: ReadView, nodeId: string, allocationId: string): Allocation | undefined {
  const found = view.get(allocations, [allocationId])?.record;
  const hasEnded = found?.ClientStatus === 'complete' || found?.ClientStatus === 'failed';
  return found?.NodeID === nodeId && !hasEnded ? found : undefined;
}

function readable(
  view: ReadView,
  task: Principal,
  own: string,
  { path, namespace = own }: VariableRead,
): StoredVariable | undefined {
  return allowsVariable(task, { namespace, path }, 'read') ? view.get(variables, [namespace, path])?.record : undefined;
}

/** The names below a prefix, up to the limit; names that the task may not list are omitted and do not count. */
function listed(view: ReadView, task: Principal, own: string, { path, namespace = own }: VariableRead): VariableName[] {
  if (namespace === everyNamespace) return [];
  const request = { namespace, prefix: path, sees: everythingSeen };
  const source = namespacedSource(view, variables, request, ({ Path }) => Path);
  return readPage(source, MAX_LISTED_VARIABLES, ({ record }) =>
    ok<boolean, never>(allowsVariable(task, { namespace, path: record.Path }, 'list')),
  )
    .map(({ items }) => items.map(({ record }) => ({ path: record.Path, namespace })))
    .unwrapOr([]);
}

function versionOf(found: readonly (StoredVariable | undefined)[], lists: readonly VariableName[][]): string {
  const text = JSON.stringify([
    found.map((variable) => variable && [variable.CreateIndex, variable.ModifyIndex]),
    lists.map((names) => names.map(({ path }) => path)),
  ]);
  return textHash(1, text) + textHash(2, text);
}

function refused(message: string): AgentRefused {
  return { type: 'node_refused', message };
}
