import {
  createNotificationConfiguration,
  deleteNotificationConfiguration,
  enableNotificationConfiguration,
  listNotificationConfigurations,
  showNotificationConfiguration,
  updateNotificationConfiguration,
  verifyNotificationConfiguration,
} from '../../../src/index.js';
import type { HttpResponse } from '../http-message.js';
import { isJsonObject } from '../json-body.js';
import { emptyResponse } from '../responses.js';
import type { Route, RouteCall } from '../route.js';
import { errorResponse, notificationErrorResponse, notificationErrors } from './notification-errors.js';
import { documentAnswer, documentResponse, notificationRoute } from './notification-route.js';
import {
  configurationDocument,
  configurationListDocument,
  createRequest,
  updateRequest,
} from './notification-schemas.js';
import { pageFrom, pageLinks, pageParameters } from './pagination.js';
import { type RequestDocument, readDocument } from './request-document.js';
import { configurationResource } from './resource-documents.js';

const types = ['notification-configuration', 'notification-configurations'] as const;
const one = documentAnswer('The configuration', configurationDocument);
const ofWorkspace = '/workspaces/{workspace_id}/notification-configurations';
const byId = '/notification-configurations/{notification_configuration_id}';

/** Create, list, show, update, verify, enable, delete (notification interface, Endpoints). */
export const configurationRoutes: readonly Route[] = [
  notificationRoute({
    method: 'POST',
    path: ofWorkspace,
    operation: 'createNotificationConfiguration',
    summary: 'Create a notification configuration; with enabled true its destination is verified first',
    right: 'admin',
    parameters: {},
    requestSchema: createRequest,
    answers: { 201: one },
    run: async (call) => {
      const { engine, caller } = call;
      const workspaceId = idOf(call);
      const document = await readDocument(call, types);
      if (document.isErr()) return notificationErrors.badInput(document.error);
      if (namesOtherWorkspace(document.value, workspaceId)) {
        const known = await listNotificationConfigurations(engine, caller, { workspaceId });
        return known.isErr()
          ? notificationErrorResponse(known.error)
          : otherResource('/data/relationships/subscribable');
      }
      const created = await createNotificationConfiguration(engine, caller, {
        workspaceId,
        attributes: attributesFrom(document.value),
        faults: document.value.faults,
      });
      return created.match(
        (view) => documentResponse(201, { data: configurationResource(view, call.notificationsPath) }),
        notificationErrorResponse,
      );
    },
  }),
  notificationRoute({
    method: 'GET',
    path: ofWorkspace,
    operation: 'listNotificationConfigurations',
    summary: 'The configurations of a workspace, newest first; all of them when no page is asked for',
    right: 'admin',
    parameters: pageParameters,
    answers: { 200: documentAnswer('The configurations', configurationListDocument) },
    run: async (call, values) => {
      const { engine, caller } = call;
      const listed = await listNotificationConfigurations(engine, caller, {
        workspaceId: idOf(call),
        page: pageFrom(values),
      });
      return listed.match(({ items, pagination }) => {
        const data = items.map((view) => configurationResource(view, call.notificationsPath));
        if (pagination === null) return documentResponse(200, { data });
        return documentResponse(200, {
          data,
          links: pageLinks(call, { ...pagination, lastPage: pagination.totalPages }),
          meta: {
            pagination: {
              'current-page': pagination.currentPage,
              'page-size': pagination.pageSize,
              'prev-page': pagination.prevPage,
              'next-page': pagination.nextPage,
              'total-pages': pagination.totalPages,
              'total-count': pagination.totalCount,
            },
          },
        });
      }, notificationErrorResponse);
    },
  }),
  notificationRoute({
    method: 'GET',
    path: byId,
    operation: 'showNotificationConfiguration',
    summary: 'One notification configuration',
    right: 'admin',
    parameters: {},
    answers: { 200: one },
    run: async (call) =>
      shown(call, await showNotificationConfiguration(call.engine, call.caller, { configurationId: idOf(call) })),
  }),
  notificationRoute({
    method: 'PATCH',
    path: byId,
    operation: 'updateNotificationConfiguration',
    summary: 'Change a notification configuration; what is left out keeps its value',
    right: 'admin',
    parameters: {},
    requestSchema: updateRequest,
    answers: { 200: one },
    run: async (call) => {
      const { engine, caller } = call;
      const configurationId = idOf(call);
      const document = await readDocument(call, types);
      if (document.isErr()) return notificationErrors.badInput(document.error);
      if (document.value.id !== undefined && document.value.id !== configurationId) {
        const known = await showNotificationConfiguration(engine, caller, { configurationId });
        return known.isErr() ? notificationErrorResponse(known.error) : otherResource('/data/id');
      }
      const attributes = attributesFrom(document.value);
      const { faults } = document.value;
      return shown(
        call,
        await updateNotificationConfiguration(engine, caller, { configurationId, attributes, faults }),
      );
    },
  }),
  notificationRoute({
    method: 'DELETE',
    path: byId,
    operation: 'deleteNotificationConfiguration',
    summary: 'Delete a notification configuration',
    right: 'admin',
    parameters: {},
    answers: { 204: { description: 'Deleted' } },
    run: async (call) => {
      const deleted = await deleteNotificationConfiguration(call.engine, call.caller, { configurationId: idOf(call) });
      return deleted.match(() => emptyResponse(204), notificationErrorResponse);
    },
  }),
  notificationRoute({
    method: 'POST',
    path: byId + '/actions/verify',
    operation: 'verifyNotificationConfiguration',
    summary: 'Send a verification request (e-mail: a test mail) and store the answer',
    right: 'admin',
    parameters: {},
    answers: { 200: one },
    run: async (call) =>
      shown(call, await verifyNotificationConfiguration(call.engine, call.caller, { configurationId: idOf(call) })),
  }),
  notificationRoute({
    method: 'POST',
    path: byId + '/actions/enable',
    operation: 'enableNotificationConfiguration',
    summary: 'Enable after a successful verification',
    right: 'admin',
    parameters: {},
    answers: { 200: one },
    run: async (call) =>
      shown(call, await enableNotificationConfiguration(call.engine, call.caller, { configurationId: idOf(call) })),
  }),
];

function idOf(call: RouteCall): string {
  return call.pathValues[0] ?? '';
}

type Shown = Awaited<ReturnType<typeof updateNotificationConfiguration>>;

function shown(call: RouteCall, result: Shown): HttpResponse {
  return result.match(
    (view) => documentResponse(200, { data: configurationResource(view, call.notificationsPath) }),
    notificationErrorResponse,
  );
}

/** The members that the core knows, under its names; all others are ignored. */
function attributesFrom(document: RequestDocument): Readonly<Record<string, unknown>> {
  const { attributes } = document;
  const users = document.relationships['users'];
  // Only links, or nothing at all: the relationship is left as it is.
  const usersGiven = Array.isArray(users) || (isJsonObject(users) ? Object.hasOwn(users, 'data') : users !== undefined);
  return {
    destinationType: attributes['destination-type'],
    enabled: attributes['enabled'],
    name: attributes['name'],
    token: attributes['token'],
    triggers: attributes['triggers'],
    url: attributes['url'],
    emailAddresses: attributes['email-addresses'],
    users: usersGiven ? users : undefined,
  };
}

/** Clients repeat the workspace of the path in the body; another one cannot be meant. */
function namesOtherWorkspace(document: RequestDocument, workspaceId: string): boolean {
  const subscribable = document.relationships['subscribable'];
  const data = isJsonObject(subscribable) ? subscribable['data'] : undefined;
  return isJsonObject(data) && (data['id'] !== workspaceId || data['type'] !== 'workspaces');
}

function otherResource(pointer: string): HttpResponse {
  const detail = 'The document names another resource than the path';
  return errorResponse([{ status: '409', title: 'conflict', detail, source: { pointer } }]);
}
