import type { LogEntry } from '../operations/context/log-feed.js';
import { base64From, bytesFromBase64 } from './base64.js';

const encoder = new TextEncoder();

/** An entry as a line: time, level, message, and its fields as `name=value`; or as one JSON object. */
export function logLine(entry: LogEntry, json: boolean): Uint8Array {
  return encoder.encode((json ? jsonText(entry) : plainText(entry)) + '\n');
}

/** The line in a frame, as clients of streams read them. */
export function logFrame(entry: LogEntry, json: boolean): string {
  return JSON.stringify({ Data: base64From(logLine(entry, json)) });
}

/** The line of a frame; undefined for any other value. */
export function lineOfFrame(frame: unknown): Uint8Array | undefined {
  const { Data } = frame as { readonly Data?: unknown };
  return typeof Data === 'string' ? bytesFromBase64(Data) : undefined;
}

function jsonText({ at, level, message, fields }: LogEntry): string {
  return printed({ ...fields, '@level': level, '@message': message, '@timestamp': new Date(at).toISOString() });
}

function plainText({ at, level, message, fields }: LogEntry): string {
  const values = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  const head = `${new Date(at).toISOString()} [${level.toUpperCase()}]`.padEnd(longestHead);
  return `${head} ${oneLine(message)}${values.length === 0 ? '' : ':'}${values.join('')}`;
}

const longestHead = '2000-01-01T00:00:00.000Z [ERROR]'.length;

/** Values with spaces or line terminators are quoted. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return printed(value);
  return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** An entry is always one line of bounded length. */
function printed(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, longestValue);
  } catch {
    return '"unprintable"';
  }
}

const longestValue = 8192;

function oneLine(message: string): string {
  return message.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ');
}
