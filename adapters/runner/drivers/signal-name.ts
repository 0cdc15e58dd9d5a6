import { constants } from 'node:os';

/** The full name of a signal of this system, written with or without `SIG`; undefined for an unknown signal. */
export function knownSignal(name: string): NodeJS.Signals | undefined {
  const full = name.startsWith('SIG') ? name : `SIG${name}`;
  return Object.hasOwn(constants.signals, full) ? (full as NodeJS.Signals) : undefined;
}
