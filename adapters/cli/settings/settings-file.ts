import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isRecord, messageOf } from '../../../src/shared/values.js';
import { findJsonFault, jsonValueOf } from '../json-fault.js';
import { Stopped } from '../stopped.js';
import type { SettingsFile } from './resolve-settings.js';

/** The default file in the working folder. */
const usualName = 'signalbox.json';

/**
 * Reads the settings file: that of `--config` or SIGNALBOX_CONFIG, else `signalbox.json` in the working folder
 * if it exists. Rejects with `Stopped` if it is unreadable or invalid JSON.
 */
export async function readSettingsFile(
  config: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SettingsFile | null> {
  const variable = environment['SIGNALBOX_CONFIG'];
  const named = config ?? (variable === undefined || variable === '' ? null : variable);
  const path = resolve(named ?? usualName);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (named === null && isRecord(error) && error['code'] === 'ENOENT') return null;
    const reason = messageOf(error);
    throw new Stopped(`the settings file cannot be read: ${reason}`, 2);
  });
  if (text === null) return null;
  const fault = findJsonFault(text);
  if (fault !== undefined) throw new Stopped(`${path}:${fault.line}:${fault.column}: ${fault.message}`, 2);
  return { path, content: jsonValueOf(text) };
}
