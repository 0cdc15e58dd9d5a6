import { quoted } from '../../shared/values.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import { unknownFields } from '../document/unknown-fields.js';

/** Keys of a document that a registration ignores: unknown ones, and ones from older versions of the interface. */
export function documentWarnings(document: unknown, submitted: SubmittedJob): string[] {
  return [...unknownFields(document).map(({ message }) => message), ...replacedFields(submitted)];
}

/** `[name in a job specification, submitted value, what to use]`; the values null, false and 0 are those of a stored job. */
function replacedFields(submitted: SubmittedJob): string[] {
  return (submitted.TaskGroups ?? []).flatMap((group) =>
    [
      ['max_client_disconnect', group.MaxClientDisconnect, 'disconnect.lost_after'] as const,
      ['stop_after_client_disconnect', group.StopAfterClientDisconnect, 'disconnect.stop_on_client_after'] as const,
      ['prevent_reschedule_on_lost', group.PreventRescheduleOnLost, 'disconnect.replace'] as const,
    ].flatMap(([name, value, instead]) =>
      value === null || value === false || value === 0
        ? []
        : [`group ${quoted(group.Name)}: ${name} has no effect, use ${instead}`],
    ),
  );
}
