import { customEventAttributes, triggerFromSpelling } from '../../src/index.js';

/** Whether the file of an event of an own type holds its payload itself: then it has members that are no attributes. */
export function isPayload(trigger: string, inFile: Readonly<Record<string, unknown>>): boolean {
  if (triggerFromSpelling(trigger) !== undefined) return false;
  return Object.keys(inFile).some((name) => !customEventAttributes.includes(name));
}
