import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import {
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
} from '../../agent/link/node-command.js';
import type { JobAction } from '../../api/calls/allocation-command-calls.js';
import type { TaskAction } from '../../jobs/document/task-parts.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import type { EngineContext } from '../context/engine-context.js';
import { readShownJob } from '../records/function-jobs.js';
import { readAllocationJob, readJobRow } from '../records/jobs/job-rows.js';
import { type AllocationCommandError, askNodeWhileAllowed, type Conversation, lookUpAllocation } from './ask-node.js';

interface ExecInput extends Conversation {
  readonly allocationId: string;
  readonly task: string;
  readonly command: readonly string[];
  /** Runs the command in a terminal. */
  readonly terminal?: boolean;
}

/** Runs a command with a task's environment and folder. Needs `alloc-exec`. */
export function execInAllocation(
  context: EngineContext,
  caller: Principal,
  { allocationId, task, command, terminal = false, ...conversation }: ExecInput,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  return lookUpAllocation(context, caller, allocationId, ['alloc-exec']).andThen((allocation) => {
    const fault = execFault(caller, allocation, task, command);
    if (fault !== undefined) return errAsync(fault);
    return runOnNode(context, caller, { allocation, task, command, terminal, ...conversation });
  });
}

interface Run extends Conversation {
  readonly allocation: Allocation;
  readonly task: string;
  readonly command: readonly string[];
  readonly terminal: boolean;
}

function runOnNode(
  context: EngineContext,
  caller: Principal,
  { allocation, task, command, terminal, ...conversation }: Run,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const exec = { type: 'exec', allocationId: allocation.ID, task, command, terminal } as const;
  const permission = { caller, isAllowed: (now: Principal) => mayRun(now, allocation) };
  return askNodeWhileAllowed(context, permission, { allocation, command: exec }, conversation);
}

// The drivers run commands without isolation: the command can access the whole node.
function mayRun(caller: Principal, { Namespace }: Allocation): boolean {
  return allows(caller, Namespace, ['alloc-exec']) && allows(caller, Namespace, ['alloc-node-exec']);
}

function execFault(
  caller: Principal,
  allocation: Allocation,
  task: string,
  command: readonly string[],
): AllocationCommandError | undefined {
  if (task === '') return commandRefused('invalid', 'must provide task name');
  if (command.length === 0) return commandRefused('invalid', 'command is not present');
  if (!mayRun(caller, allocation)) return { type: 'permission_denied' };
  if (!Object.hasOwn(allocation.AllocatedResources.Tasks, task)) return callerFailed('not_found', 'task not found');
  return notRunning(allocation, task);
}

/** Refuses tasks that are unreported or reported as ended. For all others the node decides, which has newer information. */
function notRunning(allocation: Allocation, task: string): CommandRefused | undefined {
  const state = allocation.TaskStates?.[task];
  if (state === undefined) return commandRefused('not_found', `task "${task}" not started yet.`);
  return state.State === 'dead' ? commandRefused('not_found', `task "${task}" is not running.`) : undefined;
}

interface RunActionInput extends Conversation {
  readonly jobId: string;
  readonly allocationId: string;
  readonly task: string;
  readonly action: string;
  readonly terminal?: boolean;
}

/** Runs an action that a job declares for one of its tasks. Needs `alloc-exec`. */
export function runJobAction(
  context: EngineContext,
  caller: Principal,
  { jobId, allocationId, task, action, terminal = false, ...conversation }: RunActionInput,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  if (allocationId === '') return errAsync(commandRefused('invalid', 'missing allocation ID'));
  return lookUpAllocation(context, caller, allocationId, ['alloc-exec'])
    .andThen((allocation) =>
      context.storage
        .read((view) => ({
          known: readJobRow(view, allocation.Namespace, jobId) !== undefined,
          job: readAllocationJob(view, view.get(allocations, [allocation.ID])?.record ?? allocation)?.record,
        }))
        .map(({ known, job }) => ({ allocation, known, job })),
    )
    .andThen(({ allocation, known, job }): Result<Runnable, AllocationCommandError> => {
      if (!known) return err(commandRefused('not_found', `job "${jobId}" not found`));
      if (allocation.JobID !== jobId) {
        return err(commandRefused('invalid', `job ${jobId} does not have allocation ${allocationId}`));
      }
      const group = job?.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
      return findAction(group?.Tasks ?? [], { allocationId, task, action }).andThen((found) => {
        const fault = execFault(caller, allocation, task, [found.Command]);
        return fault === undefined ? ok({ allocation, command: [found.Command, ...(found.Args ?? [])] }) : err(fault);
      });
    })
    .andThen((runnable) => runOnNode(context, caller, { ...runnable, task, terminal, ...conversation }));
}

interface Runnable {
  readonly allocation: Allocation;
  readonly command: readonly string[];
}

function findAction(
  tasks: readonly { readonly Name: string; readonly Actions: readonly TaskAction[] | null }[],
  { allocationId, task, action }: { readonly allocationId: string; readonly task: string; readonly action: string },
): Result<TaskAction, CommandRefused> {
  if (task === '') return err(commandRefused('invalid', 'task name is missing'));
  const described = tasks.find(({ Name }) => Name === task);
  if (described === undefined) {
    return err(commandRefused('invalid', `task ${task} not found in allocation ${allocationId}`));
  }
  const found = (described.Actions ?? []).find(({ Name }) => Name === action);
  return found === undefined ? err(commandRefused('invalid', `action ${action} not found in task ${task}`)) : ok(found);
}

/** The actions of a job, in order of groups, tasks and definition. Needs `read-job`. */
export function listJobActions(
  context: EngineContext,
  _caller: Principal,
  { namespace = 'default', jobId }: { readonly namespace?: string; readonly jobId: string },
): ResultAsync<readonly JobAction[], AllocationCommandError> {
  return context.storage
    .read((view) => readShownJob(view, namespace, jobId)?.record)
    .andThen((job): Result<readonly JobAction[], AllocationCommandError> => {
      if (job === undefined) return err(callerFailed('not_found', `Unknown job "${jobId}"`));
      return ok(
        job.TaskGroups.flatMap((group) =>
          group.Tasks.flatMap((task) =>
            (task.Actions ?? []).map(({ Name, Command, Args }) => ({
              Name,
              Command,
              Args,
              TaskName: task.Name,
              TaskGroupName: group.Name,
            })),
          ),
        ),
      );
    });
}
