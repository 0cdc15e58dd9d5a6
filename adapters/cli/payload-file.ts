import { customEventAttributes, triggerFromSpelling } from '../../src/index.js';

/** Whether the file of a custom event is the payload alone: true if it has members other than the known attributes. */
export function isPayload(trigger: string, inFile: Readonly<Record<string, unknown>>): boolean {
  if (triggerFromSpelling(trigger) !== undefined) return false;
  return Object.keys(inFile).some((name) => !customEventAttributes.includes(name));
}
