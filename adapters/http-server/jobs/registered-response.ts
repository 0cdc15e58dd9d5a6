import type { Registered } from '../../../src/index.js';
import type { HttpResponse } from '../http-message.js';
import type { RouteCall } from '../route.js';
import { writeResponse } from './job-responses.js';

/** What reads carry in headers and register-shaped answers in the body. */
export const inlinedMetadata = { LastContact: 0, KnownLeader: false, NextToken: '' } as const;

/** The answer of every write that registers: register, update, revert, scale, evaluate. */
export function registeredResponse(call: RouteCall, answer: Registered): HttpResponse {
  const body = {
    EvalID: answer.evalId,
    EvalCreateIndex: answer.evalCreateIndex,
    JobModifyIndex: answer.jobModifyIndex,
    Warnings: answer.warnings,
    Index: answer.index,
    ...inlinedMetadata,
  };
  return writeResponse(call, answer.index, JSON.stringify(body));
}
