import { signal } from '@preact/signals';
import { mountUrl, settings } from './settings.js';

/*
 * The session of the browser: a cookie that no script can read. The page never stores a token.
 */

/** `unknown` until the server has answered for the first time. */
type SessionState = 'unknown' | 'signed-in' | 'signed-out';

export const session = signal<SessionState>(settings.signIn === 'token' ? 'unknown' : 'signed-in');
/** Why the person must sign in again, for the form. */
export const signInReason = signal('');

/** Messages between the tabs of a browser. */
const tabs = new BroadcastChannel(`signalbox-session:${mountUrl.pathname}`);
tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (data === 'signed-in') session.value = 'signed-in';
  if (data === 'signed-out') endSession('You have signed out in another tab.');
};

const address = new URL('ui-session', mountUrl);
/** Headers of requests that the client of the API does not make. */
export const sessionHeaders = { 'X-SVC-Session': '1', 'Content-Type': 'application/json' };

/** Asks the server whether the session exists; a server that does not answer leaves the state as it is. */
export async function checkSession(): Promise<void> {
  if (settings.signIn !== 'token') return;
  const response = await fetch(address, { headers: sessionHeaders }).catch(() => undefined);
  if (response?.ok !== true) return;
  const { session: found } = (await response.json()) as { readonly session: object | null };
  if (found !== null) session.value = 'signed-in';
  // The reason of a session that has ended already is known better.
  else if (session.value !== 'signed-out') endSession(session.value === 'signed-in' ? 'Your session has ended.' : '');
}

/** Exchanges a token for the cookie. Returns why it was refused; undefined when it was accepted. */
export async function signIn(
  credential: { readonly token: string } | { readonly oneTimeToken: string },
): Promise<string | undefined> {
  const response = await fetch(address, {
    method: 'POST',
    headers: sessionHeaders,
    body: JSON.stringify(credential),
  }).catch(() => undefined);
  if (response === undefined) return 'The server cannot be reached.';
  if (!response.ok) return (await response.text()).trim() || `The server answered ${response.status}.`;
  signInReason.value = '';
  session.value = 'signed-in';
  tabs.postMessage('signed-in');
  return undefined;
}

export async function signOut(): Promise<void> {
  await fetch(address, { method: 'DELETE', headers: sessionHeaders }).catch(() => undefined);
  tabs.postMessage('signed-out');
  endSession('You have signed out.');
}

function endSession(reason: string): void {
  signInReason.value = reason;
  session.value = 'signed-out';
}

/**
 * Begins the session of this tab: exchanges the one-time token of the address, which leaves the address and the history
 * before anything else, or asks for the existing session.
 */
export async function beginSession(): Promise<void> {
  const url = new URL(location.href);
  const oneTimeToken = url.searchParams.get('ott');
  if (oneTimeToken !== null) {
    url.searchParams.delete('ott');
    history.replaceState(history.state, '', url);
  }
  if (oneTimeToken === null || settings.signIn !== 'token') return checkSession();
  const refusal = await signIn({ oneTimeToken });
  if (refusal === undefined) return;
  await checkSession();
  signInReason.value = refusal;
}
