import { jsonResponse, textResponse } from '../calls/responses.js';
import type { HttpResponse } from '../http-message.js';
import type { HeaderNames } from './header-names.js';

/** The token that `token/self` returns on a server without access control. */
const token = JSON.stringify({
  AccessorID: 'acls-disabled',
  SecretID: '',
  Name: 'ACLs disabled token',
  Type: 'client',
  Policies: null,
  Roles: null,
  Global: false,
  Hash: null,
  CreateTime: '0001-01-01T00:00:00Z',
  ExpirationTime: null,
  ExpirationTTL: '',
  CreateIndex: 0,
  ModifyIndex: 0,
});

/** The answers of a server without access control on the ACL routes. */
export function openServerAnswer(method: string, path: string, names: HeaderNames): HttpResponse {
  if (method !== 'GET' || path !== '/v1/acl/token/self') return textResponse(400, 'ACL support disabled');
  const response = jsonResponse(200, token);
  response.headers.push(names.index, '0', names.lastContact, '0', names.knownLeader, 'true');
  return response;
}
