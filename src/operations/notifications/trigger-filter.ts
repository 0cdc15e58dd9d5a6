import { err, ok, type Result } from 'neverthrow';
import type { InvalidParameter } from '../../notifications/errors.js';
import { eventTypes } from '../../notifications/events/event-type.js';
import { triggerDefinitions, triggerFromSpelling } from '../../notifications/events/trigger.js';
import type { ReadView } from '../../ports/storage.js';

/**
 * The trigger or event type that a filter names, as events have it; null when the filter names none. A name that nothing can have is refused:
 * an empty answer would look like there is nothing.
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

/** Types of the application stand in the log by their names, also when they are no longer registered. */
function ownType(view: ReadView, name: string): string | undefined {
  return /^[\w-]+(\.[\w-]+)+$/.test(name) || view.get(eventTypes, [name]) !== undefined ? name : undefined;
}
