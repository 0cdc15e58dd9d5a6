import { signal } from '@preact/signals';
import { box, carryTokens, type TokenSource } from '../../app/engine.js';
import { watchVisibility } from '../../app/live.js';
import { clockSkew, rights, withSkew } from '../../app/rights.js';
import { settings } from '../../app/settings.js';
import {
  handoverOf,
  isAllowedOrigin,
  isDark,
  ready,
  renewalDelay,
  type Theme,
  themeColours,
  wanted,
} from './handover.js';

/* The tokens of a page in a frame: the host's server creates them for one workspace, and its page posts them to this one. */

export const allowed = settings.frameAncestors ?? [];
export const isFramed = window.parent !== window;

/** Whether there was a token: from then on the screens stay, so that nothing that was written is lost. */
export const hasBegun = signal(false);
/** Whether another token is awaited. */
export const isWaiting = signal(true);

let token: string | undefined;
let waiting: (() => void)[] = [];
/** Asks for the next token. */
let renewal: ReturnType<typeof setTimeout> | undefined;

function post(message: typeof ready | typeof wanted): void {
  // To whichever page it is: the message is not secret, and only allowed pages can frame this one.
  window.parent.postMessage(message, '*');
}

/** Asks the host for another token; until there is one, again every five seconds. */
function askForToken(): void {
  clearTimeout(renewal);
  post(wanted);
  renewal = setTimeout(askForToken, 5000);
}

const source: TokenSource = {
  token: async (aborted) => {
    while (token === undefined) {
      aborted?.throwIfAborted();
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        aborted?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return token;
  },
  refused: (refusedToken) => {
    if (token !== refusedToken) return;
    token = undefined;
    isWaiting.value = true;
    askForToken();
  },
};

/** Begins to receive tokens from the host, and asks for the first one. */
export function beginPortal(): void {
  watchVisibility();
  if (!isFramed || allowed.length === 0) return;
  carryTokens(source);
  addEventListener('message', ({ origin, source: sender, data }) => {
    if (sender !== window.parent || !isAllowedOrigin(origin, allowed, location.origin)) return;
    const handover = handoverOf(data);
    if (handover === undefined) return;
    paint(handover.theme);
    receive(handover.token);
  });
  // The page of the host may begin to listen later.
  const announceReady = (): void => {
    if (hasBegun.peek()) return;
    post(ready);
    setTimeout(announceReady, 2000);
  };
  announceReady();
}

/** Continues what waits for a token. */
function receive(next: string): void {
  token = next;
  clearTimeout(renewal);
  isWaiting.value = false;
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
  void readRights(next);
}

/** What the token may do, and when it ends. */
async function readRights(of: string): Promise<void> {
  const [held, own] = await Promise.all([box.tokens.rights(), box.tokens.self()]);
  if (held.isOk()) {
    rights.value = withSkew(held.value.value);
    hasBegun.value = true;
  }
  if (token !== of) return;
  clearTimeout(renewal);
  const endsAt = own.isOk() ? Date.parse(own.value.value?.ExpirationTime ?? '') : Number.NaN;
  if (Number.isNaN(endsAt)) return;
  renewal = setTimeout(askForToken, renewalDelay(endsAt, Date.now() + clockSkew.peek()));
}

/** Colours as custom properties: the values are checked, and none is parsed as a style sheet. */
function paint(theme: Theme): void {
  const { style } = document.documentElement;
  for (const [name, property] of Object.entries(themeColours)) {
    const colour = Object.entries(theme).find(([given]) => given === name)?.[1];
    if (colour !== undefined) style.setProperty(property, colour);
  }
  const dark = isDark(theme);
  if (dark !== undefined) style.colorScheme = dark ? 'dark' : 'light';
}
