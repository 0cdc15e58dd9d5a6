import { err, type Result } from 'neverthrow';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import type { InvalidAttributes } from '../errors.js';
import { customEvent } from './decide-event-type.js';
import type { NotificationEvent } from './event.js';
import { type EventAttributes, eventFromAttributes } from './event-attributes.js';
import type { EventType } from './event-type.js';
import { triggerFromSpelling } from './trigger.js';

const statuses: Readonly<Record<string, string>> = {
  'run:created': 'pending',
  'run:planning': 'planning',
  'run:needs_attention': 'planned',
  'run:applying': 'applying',
  'run:completed': 'applied',
  'run:errored': 'errored',
};

/**
 * The example of an event with the trigger, with a message that says so; of a registered type, the type's own one. `unique`: letters and
 * digits for the ID of its run, so that samples do not wait for each other.
 */
export function sampleEvent(
  trigger: unknown,
  type: EventType | undefined,
  { now, unique }: { readonly now: Instant; readonly unique: string },
): Result<NotificationEvent, InvalidAttributes> {
  if (type?.example === null) {
    const message = `trigger names the event type ${type.name}, which has no example: register it with one`;
    return err({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/trigger', message }] });
  }
  const sample =
    type === undefined
      ? eventFromAttributes(attributesOf(trigger, now, unique)).map(({ event }) => event)
      : customEvent(type, { data: type.example }, isoFromInstant(now));
  return sample.map((event) => ({ ...event, message: `Sample: ${event.message}` }));
}

function attributesOf(trigger: unknown, now: Instant, unique: string): EventAttributes {
  const { value = '', scope } = (typeof trigger === 'string' ? triggerFromSpelling(trigger) : undefined) ?? {};
  const at = isoFromInstant(now);
  switch (scope) {
    case undefined:
      return { trigger };
    case 'run':
      return {
        trigger,
        run_id: `run-${unique}`,
        run_message: 'This run does not exist: the notification is a sample',
        run_status: statuses[value],
        run_created_at: at,
        run_created_by: 'sample',
        run_updated_at: at,
      };
    case 'assessment': {
      const [isDrift, isCheck] = [value === 'assessment:drifted', value === 'assessment:check_failure'];
      const result = {
        id: `asmtres-${unique}`,
        url: 'https://example.com/assessment-results/sample',
        succeeded: isDrift || isCheck,
        drifted: isDrift,
        all_checks_succeeded: isDrift,
        resources_drifted: isDrift ? 2 : 0,
        resources_undrifted: isDrift || isCheck ? 40 : 0,
        checks_passed: isDrift || isCheck ? 8 : 0,
        checks_failed: isCheck ? 1 : 0,
        created_at: at,
      };
      return { trigger, new_assessment_result: result };
    }
    case 'workspace':
      return value === 'workspace:auto_destro_reminder'
        ? { trigger, auto_destroy_at: isoFromInstant(now + 86_400_000) }
        : { trigger, run_created_at: at, run_status: 'applied', run_external_id: `run-${unique}` };
  }
}
