import { onWorkspace } from '../../../src/api/access.js';
import { isRecord } from '../../../src/shared/values.js';
import type { InputCheck } from '../calls/call-route.js';
import type { RouteCall } from '../calls/route.js';
import type { RefusingCall } from '../errors/interface-errors.js';
import { errorResponse } from '../errors/notification-errors.js';
import type { HttpResponse } from '../http-message.js';
import type { RequestDocument } from './request-document.js';

/* A document may only name the resource of the path. A missing resource is reported first. */

/** Clients repeat the workspace of the path in the document. */
export const checkWorkspace: InputCheck = async (call, { input, document }) => {
  const workspaceId = String(input['workspaceId']);
  if (document === undefined || !namesOtherWorkspace(document, workspaceId)) return undefined;
  const known = await perform(call, 'list', { workspaceId });
  return known.isErr()
    ? call.errors.callError(known.error, checked('notifications.create'))
    : otherResource(call, '/data/relationships/subscribable');
};

/** Clients repeat the id of the path in the document. */
export const checkConfiguration: InputCheck = async (call, { input, document }) => {
  const configurationId = String(input['configurationId']);
  if (document?.id === undefined || document.id === configurationId) return undefined;
  const known = await perform(call, 'show', { configurationId });
  return known.isErr()
    ? call.errors.callError(known.error, checked('notifications.update'))
    : otherResource(call, '/data/id');
};

const manner = { waiting: {}, faults: [], signal: new AbortController().signal };

function perform({ engine, caller }: RouteCall, method: 'list' | 'show', input: Readonly<Record<string, string>>) {
  return engine.perform({ area: 'notifications', method }, caller, input, manner);
}

function checked(name: string): RefusingCall {
  return { name, access: onWorkspace('admin'), where: '' };
}

function namesOtherWorkspace(document: RequestDocument, workspaceId: string): boolean {
  const subscribable = document.relationships['subscribable'];
  const data = isRecord(subscribable) ? subscribable['data'] : undefined;
  return isRecord(data) && (data['id'] !== workspaceId || data['type'] !== 'workspaces');
}

function otherResource(call: RouteCall, pointer: string): HttpResponse {
  const message = 'The document names another resource than the path';
  if (call.plain)
    return call.errors.callError({ type: 'conflict', message } as { type: 'conflict' }, checked('notifications'));
  return errorResponse([{ status: '409', title: 'conflict', detail: message, source: { pointer } }]);
}
