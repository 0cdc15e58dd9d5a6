import type { NotificationCallError } from '../../../src/api/errors.js';
import type { FieldFault, NotFound, VerificationFailed } from '../../../src/index.js';
import { type HttpResponse, jsonApiType } from '../http-message.js';
import { responseMember } from '../notifications/resource-documents.js';
import {
  type BadInput,
  busyStoreText,
  type InterfaceErrors,
  isBusyStore,
  needsUpgradeText,
  retryAfter,
  retryBusyStore,
} from './interface-errors.js';

/** One JSON:API error object. */
interface JsonApiError {
  /** A string: clients drop title and detail of an error whose status is a number. */
  readonly status: string;
  readonly title: string;
  readonly detail?: string;
  readonly code?: string;
  readonly source?: { readonly pointer?: string; readonly parameter?: string };
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Errors of the notification interface: JSON:API documents (notification interface, Errors). */
export const notificationErrors: InterfaceErrors = {
  badInput: (error) => {
    const response = errorResponse([badInputError(error)]);
    response.headers.push(...retryAfter(error));
    return response;
  },
  unknownPath: (where) =>
    errorResponse([{ status: '404', title: 'not found', detail: `there is no such path: ${where}` }]),
  // An invalid ID is answered like one that does not exist.
  unreadablePath: ({ message }) => errorResponse([{ status: '404', title: 'not found', detail: message }]),
  wrongMethod: (where, allowed) => {
    const detail = `${where}: the allowed methods are ${allowed.join(', ')}`;
    const response = errorResponse([{ status: '405', title: 'method not allowed', detail }]);
    response.headers.push('Allow', allowed.join(', '));
    return response;
  },
  unauthenticated: () => {
    const detail = 'send a valid token in the header "Authorization: Bearer …"';
    const response = errorResponse([{ status: '401', title: 'unauthorized', detail }]);
    response.headers.push('WWW-Authenticate', 'Bearer');
    return response;
  },
  forbidden: () => notificationErrorResponse({ type: 'permission_denied' }),
  refused: (status, message) =>
    errorResponse([{ status: String(status), title: refusalTitles[status], detail: message }]),
  needsUpgrade: () => notificationErrors.refused(400, needsUpgradeText),
  callError: (error) => notificationErrorResponse(error as NotificationCallError),
  internal: () =>
    errorResponse([
      { status: '500', title: 'internal server error', detail: 'the request failed; the server log has the cause' },
    ]),
};

const refusalTitles = {
  400: 'bad request',
  403: 'forbidden',
  404: 'not found',
  421: 'misdirected request',
  500: 'internal server error',
  501: 'not implemented',
} as const;

/** The status of an error. A resource that the token may not see is answered like one that does not exist. */
export const notificationStatuses: Readonly<Record<NotificationCallError['type'], number>> = {
  not_found: 404,
  permission_denied: 404,
  invalid_attributes: 422,
  invalid_parameter: 400,
  limit_reached: 400,
  verification_failed: 400,
  conflict: 409,
  storage_failed: 500,
};

/** The error document of an error (notification interface, Errors). */
function notificationErrorResponse(error: NotificationCallError): HttpResponse {
  const status = String(notificationStatuses[error.type]);
  switch (error.type) {
    case 'not_found':
      return errorResponse([{ status, title: 'not found', detail: absences[error.resource] }]);
    case 'permission_denied':
      return errorResponse([{ status, title: 'not found', detail: 'there is no such resource for this token' }]);
    case 'invalid_attributes':
      return faultsResponse(error.faults);
    case 'invalid_parameter': {
      const source = { parameter: error.parameter };
      return errorResponse([{ status, title: 'bad request', detail: error.message, source }]);
    }
    case 'limit_reached':
      return errorResponse([{ status, title: 'bad request', detail: error.message, code: error.type }]);
    case 'verification_failed':
      return errorResponse([verificationError(error)]);
    case 'conflict':
      return errorResponse([{ status, title: 'conflict', detail: error.message }]);
    case 'storage_failed':
      return isBusyStore(error)
        ? retryBusyStore(errorResponse([{ status: '503', title: 'service unavailable', detail: busyStoreText }]))
        : notificationErrors.internal();
  }
}

const absences: Readonly<Record<NotFound['resource'], string>> = {
  event_type: 'there is no such event type',
  notification_recovery: 'notification recovery not found, or this token may not administer its workspace',
  workspace: 'workspace not found, or this token may not administer it',
  organization: 'organization not found, or this token has no right on any of its workspaces',
  user: 'user not found',
  notification_configuration: 'notification configuration not found, or this token may not administer its workspace',
  notification_event: 'notification event not found, or this token may not administer its workspace',
  notification_delivery: 'notification delivery not found, or this token may not administer its workspace',
};

function faultsResponse(faults: readonly FieldFault[]): HttpResponse {
  // Without a valid document, errors of its members are not reported.
  const ofDocument = faults.filter(({ pointer }) => pointer === '' || pointer === '/data');
  const [first, ...rest] = (ofDocument.length > 0 ? ofDocument : faults.slice(0, 100)).map(faultError);
  return errorResponse([first ?? { status: '422', title: 'invalid attribute' }, ...rest]);
}

function faultError({ pointer, message }: FieldFault): JsonApiError {
  return { status: '422', title: 'invalid attribute', detail: message, source: { pointer } };
}

function verificationError(error: VerificationFailed): JsonApiError {
  const meta = error.response === null ? {} : { meta: { 'delivery-response': responseMember(error.response) } };
  return { status: '400', title: 'bad request', detail: error.message, code: error.type, ...meta };
}

/** A document with the errors, under the status of the first. */
export function errorResponse(errors: readonly [JsonApiError, ...JsonApiError[]]): HttpResponse {
  return {
    status: Number(errors[0].status),
    headers: ['Content-Type', jsonApiType],
    body: JSON.stringify({ errors }),
  };
}

function badInputError(error: BadInput): JsonApiError {
  const { status, title } = headOf(error);
  const source = error.parameter !== undefined ? { parameter: error.parameter } : { pointer: error.pointer ?? '' };
  return { status, title, detail: error.message, source };
}

function headOf(error: BadInput): { readonly status: string; readonly title: string } {
  switch (error.reason) {
    case 'too_large':
      return { status: '413', title: 'payload too large' };
    case 'unsupported':
      return { status: '415', title: 'unsupported media type' };
    case 'no_room':
      return { status: '503', title: 'service unavailable' };
    case 'too_many_waiting':
      return { status: '429', title: 'too many requests' };
    case 'malformed':
    case 'wrong_type':
    case 'absent':
      return error.parameter === undefined
        ? { status: '422', title: 'invalid attribute' }
        : { status: '400', title: 'bad request' };
    case 'aborted':
      return { status: '400', title: 'bad request' };
  }
}
