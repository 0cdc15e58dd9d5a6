import { customEventAttributes, triggerFromSpelling } from '../../src/index.js';

/** Whether the file of a custom event is a bare payload: then it has members besides the known attributes. */
export function isPayload(trigger: string, inFile: Readonly<Record<string, unknown>>): boolean {
  if (triggerFromSpelling(trigger) !== undefined) return false;
  return Object.keys(inFile).some((name) => !customEventAttributes.includes(name));
}
