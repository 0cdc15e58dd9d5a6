import type { StoredResponse } from '../../../notifications/configurations/configuration.js';
import { classifyAnswer } from '../../../notifications/delivery/classify-failure.js';
import { originOf } from '../../../notifications/delivery/redact.js';
import type { VerificationFailed } from '../../../notifications/errors.js';
import type { EngineContext } from '../../context/engine-context.js';
import { viewResponse } from './configuration-view.js';

/** The error for a response other than 2xx, including the response. */
export function refusedVerification(context: EngineContext, url: string, response: StoredResponse): VerificationFailed {
  const failure = classifyAnswer('generic', Number(response.code), response.body);
  return {
    type: 'verification_failed',
    message: `The verification request to ${originOf(url)} was answered with status ${response.code}; expected 2xx`,
    cause: failure?.class ?? 'invalid_response',
    response: viewResponse(context, response),
  };
}
