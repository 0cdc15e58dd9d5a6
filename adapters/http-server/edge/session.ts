import { err, ok, type Result } from 'neverthrow';
import { everybody } from '../../../src/api/access.js';
import { isoFromInstant } from '../../../src/index.js';
import { isRecord } from '../../../src/shared/values.js';
import { parseJsonBody } from '../calls/query-and-body.js';
import type { Route, RouteCall } from '../calls/router.js';
import { type BadInput, badInput } from '../errors/interface-errors.js';
import {
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  jsonResponse,
  placeOf,
} from '../http-message.js';

/*
 * Sessions of web pages: a token is exchanged for a cookie that no script can read. The cookie has no `Path`, so a browser sends it to
 * the mount of this handler as the browser sees it, under any proxy; for the same reason its name has no prefix that requires one.
 */

const cookieName = 'signalbox_session';

/** The value of the first cookie that has the form of a session's secret, a UUID. */
const cookie = new RegExp(`(?:^|;)[ \\t]*${cookieName}=([\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12})[ \\t]*(?:;|$)`);

/** The secret of the session of a request; undefined if there is none. */
export function sessionFrom(request: HttpRequest): string | undefined {
  const sent = headerValue(request, 'cookie');
  return sent === undefined ? undefined : cookie.exec(sent)?.[1];
}

/**
 * Why a request with the cookie of a session is refused: a browser adds cookies automatically, so that the page is behind the request must
 * show. `methods`: those of the route.
 */
export function sessionRefusal(request: HttpRequest, methods: readonly string[]): string | undefined {
  const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';
  if (!isRead(request.method)) return headerValue(request, 'x-svc-session') === '1' ? undefined : headerMissing;
  return methods.every(isRead) ? undefined : 'a session cannot change anything by GET: send a POST';
}

const headerMissing = 'a session can change something only with the header "X-SVC-Session: 1"';

/** The routes of sessions. A host that authenticates callers itself has its own. */
export function sessionRoutes(access: 'token' | 'open' | undefined): readonly Route[] {
  if (access === undefined) return [];
  const isOpen = access === 'open';
  return [
    sessionRoute('GET', isOpen ? () => sessionAnswer(undefined) : showSession),
    sessionRoute('POST', isOpen ? ({ errors }) => errors.refused(400, nothingToSignInTo) : signIn),
    sessionRoute('DELETE', signOut),
  ];
}

const nothingToSignInTo = 'this server is open to every caller: there is nothing to sign in to';

function sessionRoute(method: 'GET' | 'POST' | 'DELETE', handle: Route['handle']): Route {
  return { name: 'session', interface: 'system', methods: [method], path: '/ui-session', access: everybody, handle };
}

function showSession({ engine, request, errors }: RouteCall): HttpResponse | Promise<HttpResponse> {
  const secret = sessionFrom(request);
  if (secret === undefined) return sessionAnswer(undefined);
  return engine.host.sessions.read(secret).match(sessionAnswer, (error) => errors.callError(error, session(request)));
}

async function signIn({ engine, request, errors, readBody }: RouteCall): Promise<HttpResponse> {
  const read = await readBody();
  const credential = parseJsonBody(read)
    // Messages about invalid JSON quote it.
    .mapErr((fault) => (read.type === 'bytes' ? unfit : fault))
    .andThen(credentialIn);
  if (credential.isErr()) return errors.badInput(credential.error);
  return engine.host.sessions.create(credential.value).match(
    ({ secret, expiresAt }) => {
      const seconds = Math.floor((expiresAt - engine.clock.now()) / 1000);
      const response = sessionAnswer(expiresAt);
      response.headers.push('Set-Cookie', cookieOf({ engine, request }, secret, seconds));
      return response;
    },
    (error) => {
      if (error.type !== 'permission_denied') return errors.callError(error, session(request));
      return errors.refused(403, 'token' in credential.value ? unknownToken : unknownOneTimeToken);
    },
  );
}

const unknownToken = 'the token is unknown or has expired';
const unknownOneTimeToken = 'the one-time token is unknown, has been used or has expired';
const unfit = badInput('wrong_type', 'the request body must be {"token": "…"} or {"oneTimeToken": "…"}');

function credentialIn(
  value: unknown,
): Result<{ readonly token: string } | { readonly oneTimeToken: string }, BadInput> {
  if (!isRecord(value) || Object.keys(value).length !== 1) return err(unfit);
  const { token, oneTimeToken } = value;
  if (typeof token === 'string') return ok({ token });
  return typeof oneTimeToken === 'string' ? ok({ oneTimeToken }) : err(unfit);
}

function signOut(call: RouteCall): HttpResponse | Promise<HttpResponse> {
  const { engine, request, errors } = call;
  const secret = sessionFrom(request);
  const signedOut = (): HttpResponse => {
    const response = emptyResponse(204);
    response.headers.push('Set-Cookie', cookieOf(call, '', 0), 'Clear-Site-Data', '"cache", "storage"');
    return response;
  };
  if (secret === undefined) return signedOut();
  const refusal = sessionRefusal(request, []);
  if (refusal !== undefined) return errors.refused(403, refusal);
  return engine.host.sessions.remove(secret).match(signedOut, (error) => errors.callError(error, session(request)));
}

function session(request: HttpRequest) {
  return { name: 'session', access: everybody, where: placeOf(request) };
}

function sessionAnswer(expiresAt: number | undefined): HttpResponse {
  const shown = expiresAt === undefined ? null : { expiresAt: isoFromInstant(expiresAt) };
  const response = jsonResponse(200, JSON.stringify({ session: shown }));
  response.headers.push('Cache-Control', 'no-store');
  return response;
}

/** Browsers send `Origin` with POST and DELETE, so the scheme is the one that the page sees, whichever proxies are between. */
function cookieOf({ engine, request }: Pick<RouteCall, 'engine' | 'request'>, value: string, seconds: number): string {
  const origin = headerValue(request, 'origin') ?? engine.settings.notifications.publicOrigin;
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  return `${cookieName}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
