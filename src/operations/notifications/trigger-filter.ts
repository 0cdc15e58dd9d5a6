import { err, ok, type Result } from 'neverthrow';
import type { InvalidParameter } from '../../notifications/errors.js';
import { eventTypes } from '../../notifications/events/event-type.js';
import { triggerDefinitions, triggerFromSpelling } from '../../notifications/events/trigger.js';
import type { ReadView } from '../../ports/storage.js';

/**
 * The trigger or event type of a filter, in the form that events use; null for no filter. An unknown name is refused, because an empty
 * list would be misleading.
 */
export function readTriggerFilter(
  view: ReadView,
  parameter: string,
  asked: unknown,
): Result<string | null, InvalidParameter> {
  if (asked === undefined) return ok(null);
  const known = typeof asked === 'string' ? (triggerFromSpelling(asked)?.value ?? ownType(view, asked)) : undefined;
  if (known !== undefined) return ok(known);
  const triggers = triggerDefinitions.map(({ value }) => value).join(', ');
  const message = `The trigger must be an event type, or one of ${triggers}`;
  return err({ type: 'invalid_parameter', parameter, message });
}

/** The log contains event types of the application by name, even if they are no longer registered. */
function ownType(view: ReadView, name: string): string | undefined {
  return /^[\w-]+(\.[\w-]+)+$/.test(name) || view.get(eventTypes, [name]) !== undefined ? name : undefined;
}
