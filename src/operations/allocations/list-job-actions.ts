import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { callerFailed } from '../../agent/link/node-command.js';
import type { JobAction } from '../../api/calls/action-calls.js';
import { authorise } from '../authorise.js';
import type { EngineContext } from '../context/engine-context.js';
import { readShownJob } from '../records/function-jobs.js';
import type { AllocationCommandError } from './ask-node.js';

/** The actions of a job, in order of groups, tasks and definition. Needs `read-job`. */
export function listJobActions(
  context: EngineContext,
  caller: Principal,
  { namespace = 'default', jobId }: { readonly namespace?: string; readonly jobId: string },
): ResultAsync<readonly JobAction[], AllocationCommandError> {
  const allowed = authorise(caller, namespace, ['read-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
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
