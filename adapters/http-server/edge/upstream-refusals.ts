import { textResponse } from '../calls/route.js';
import type { HttpResponse } from '../http-message.js';

/** Size of bodies that are validated although the caller lacks the right, so that their errors take precedence. */
export const bodyOfStrangers = 64 * 1024;

/** Nomad checks the right for streams of files after their start: the refusal is in the body. */
const streamsOfFiles = /^\/v1\/client\/fs\/(cat|readat|stream)\//;
const logsOfTasks = /^\/v1\/client\/fs\/logs\//;
/** Calls that the server forwards to a node, with the token. */
const passedOn = /^\/v1\/client\//;
/** Calls that look the token up themselves, before anything else. */
const lookedUpFirst = /^\/v1\/(agent\/self|jobs\/parse|acl\/token\/self)$/;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const denied = 'Permission denied';

/**
 * Nomad's answers to an unknown token, on the paths where that is not a 403. Nomad takes a token other than a UUID
 * for a signed identity and reports that it cannot read its signature.
 */
export function refusedToken(path: string, secret: string): HttpResponse | undefined {
  const isUuid = uuid.test(secret);
  if (streamsOfFiles.test(path)) return textResponse(200, `rpc error: ${isUuid ? denied : noSignature}`);
  if (logsOfTasks.test(path) && isUuid) return textResponse(500, `rpc error: ${denied}`);
  if (isUuid) return undefined;
  if (passedOn.test(path)) return textResponse(500, `rpc error: ${noSignature}`);
  return lookedUpFirst.test(path) ? textResponse(500, noSignature) : undefined;
}

/** The close reason of a socket whose caller has this unknown token. */
export function refusedSocketToken(secret: string): string {
  return `rpc error: ${uuid.test(secret) ? denied : noSignature}`;
}

/** The message of Nomad's signature library: on some paths it is the body of the answer. */
const noSignature = 'failed to parse signed token: go-jose/go-jose: compact JWS format must have three parts';

/** Answers for a missing right, on the paths where it is not a 403. */
export function refusedRight(path: string): HttpResponse | undefined {
  return streamsOfFiles.test(path) ? textResponse(200, denied) : undefined;
}
