import { err, ok, type Result } from 'neverthrow';
import { type BadInput, badInput } from '../errors/interface-errors.js';
import type { HttpRequest } from '../http-message.js';

/** The longest request target accepted: clients are known to send more than 3 KB of query, servers allow 16 KB of head. */
export const maximumTargetLength = 16_384;

/** A request target, split in two; both parts are raw. */
interface Target {
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
}

/** Splits the target into path and query; drops scheme and host of the absolute form (`GET http://host/path`). */
export function splitTarget(target: string): Target {
  let from = 0;
  if (target.charCodeAt(0) !== slash) {
    const authority = target.indexOf('://');
    if (authority > 0) {
      const path = target.indexOf('/', authority + 3);
      from = path < 0 ? target.length : path;
    }
  }
  const mark = target.indexOf('?', from);
  if (mark < 0) return { path: from === 0 ? target : target.slice(from), query: '' };
  return { path: target.slice(from, mark), query: target.slice(mark + 1) };
}

/** Method and path of a request, for messages. */
export function placeOf({ method, target }: Pick<HttpRequest, 'method' | 'target'>): string {
  return `${method.slice(0, 20)} ${splitTarget(target).path.slice(0, 256)}`;
}

/** Host and port of a target in the form `http://host:port/path`; undefined for the usual form, which begins with the path. */
export function authorityOf(target: string): string | undefined {
  if (target.charCodeAt(0) === slash) return undefined;
  const scheme = target.indexOf('://');
  if (scheme <= 0) return undefined;
  return /^[^/?#]*/.exec(target.slice(scheme + 3))?.[0];
}

/** Decodes percent-encoding; most strings have none and are returned unchanged. */
export function decodePathText(text: string): Result<string, BadInput> {
  if (!text.includes('%')) return ok(text);
  try {
    return ok(decodeURIComponent(text));
  } catch {
    return err(badInput('malformed', 'the path contains an invalid percent-encoding; write % as %25'));
  }
}

const slash = 0x2f;
