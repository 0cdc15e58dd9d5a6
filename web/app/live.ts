import { computed, effect, signal } from '@preact/signals';
import type { Indexed } from 'signalbox/client';
import { box, lostSince, refusals } from './engine.js';
import { type CallerRights, type KnownRights, may, mayInArea, rights, withSkew } from './rights.js';
import { checkSession, session } from './session.js';
import { mountUrl, pageUrl } from './settings.js';

/*
 * What has changed at the server. One tab of a browser follows the event stream and the caller's rights and relays both to the
 * others, because without TLS a browser has six connections for all its tabs. A hidden tab makes no request after half a minute.
 */

/** Topics of the event stream, and the resources for which there are no events. */
export type Topic = 'Job' | 'Evaluation' | 'Allocation' | 'Deployment' | 'Node' | 'Service';

interface Change {
  readonly topic: Topic;
  readonly key: string;
}

type Relayed =
  | { readonly type: 'changes'; readonly changes: readonly Change[] }
  /** Events may have been missed: everything is read again. */
  | { readonly type: 'missed' }
  | { readonly type: 'rights'; readonly rights: KnownRights }
  | { readonly type: 'rights-wanted' };

/** Whether the person has stopped updates. */
export const isPaused = signal(false);
/** False after the tab was hidden for half a minute. */
export const isShown = signal(!document.hidden);
const hiddenFor = 30_000;

export const connection = computed(() => {
  if (session.value !== 'signed-in') return { state: 'signed-out' as const };
  if (isPaused.value) return { state: 'paused' as const };
  return lostSince.value === undefined
    ? { state: 'live' as const }
    : { state: 'lost' as const, since: lostSince.value };
});

/** Whether the server has another build of the page than the one that runs here. */
export const isOutdated = signal(false);

async function compareBuild(): Promise<void> {
  const answer = await fetch(pageUrl, { cache: 'no-cache' }).catch(() => undefined);
  const running = document.querySelector('script[type=module]')?.getAttribute('src');
  const text = answer?.ok === true ? await answer.text() : '';
  // A proxy may answer with its sign-in page.
  if (text.includes('id="settings"') && typeof running === 'string') isOutdated.value = !text.includes(running);
}

type Listener = (changes: readonly Change[] | undefined) => void;
const listeners = new Set<Listener>();

/** Calls back with changes, or with undefined when everything may have changed. */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(changes: readonly Change[] | undefined): void {
  // Other tabs relay to a hidden one, too; it reads everything again when it is shown.
  if (isPaused.peek() || !isShown.peek()) return;
  for (const listener of [...listeners]) listener(changes);
}

const channel = new BroadcastChannel(`signalbox-changes:${mountUrl.pathname}`);
let leads = false;
channel.onmessage = ({ data }: MessageEvent<Relayed>) => receive(data);

function receive(message: Relayed): void {
  if (message.type === 'rights') rights.value = message.rights;
  else if (message.type === 'changes') notify(message.changes);
  else if (message.type === 'missed') notify(undefined);
  else if (leads && rights.value !== undefined)
    channel.postMessage({ type: 'rights', rights: rights.value } satisfies Relayed);
}

function relay(message: Relayed): void {
  channel.postMessage(message);
  receive(message);
}

/** Begins to follow the server, whenever a session exists and the tab is shown. */
export function beginFollowing(): void {
  watchVisibility();
  let ended: AbortController | undefined;
  let isFirst = true;
  effect(() => {
    const follows = session.value === 'signed-in' && isShown.value && !isPaused.value;
    ended?.abort();
    ended = undefined;
    if (!follows) return;
    ended = new AbortController();
    void becomeLeader(ended.signal);
    if (!isFirst) void compareBuild();
    isFirst = false;
    // What this tab missed meanwhile.
    notify(undefined);
    if (rights.peek() === undefined) void readRightsOnce();
    channel.postMessage({ type: 'rights-wanted' } satisfies Relayed);
  });
  effect(() => {
    if (refusals.value > 0) void afterRefusal();
  });
  let wasLost = false;
  effect(() => {
    const { state } = connection.value;
    if (wasLost && state === 'live' && isShown.value) void compareBuild();
    wasLost = state === 'lost';
  });
}

/** Keeps `isShown` as the tab is. */
export function watchVisibility(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (!document.hidden) isShown.value = true;
    else timer = setTimeout(() => (isShown.value = false), hiddenFor);
  });
}

async function readRightsOnce(): Promise<void> {
  const read = await box.tokens.rights();
  if (read.isOk()) rights.value = withSkew(read.value.value);
}

let refusedAt = 0;

/** A refusal shows that the session has ended or that rights have changed. At most one check in two seconds. */
async function afterRefusal(): Promise<void> {
  if (Date.now() - refusedAt < 2000) return;
  refusedAt = Date.now();
  await checkSession();
  if (session.value === 'signed-in') await readRightsOnce();
}

/** Follows the server while this tab has the lock. Without locks, which need a secure context, each tab follows alone. */
async function becomeLeader(signal: AbortSignal): Promise<void> {
  const lead = async (): Promise<void> => {
    leads = true;
    await Promise.all([followRights(signal), followEvents(signal)]);
    leads = false;
  };
  if (!('locks' in navigator)) return lead();
  await navigator.locks.request(`signalbox-leader:${mountUrl.pathname}`, { signal }, lead).catch(() => undefined);
}

async function followRights(signal: AbortSignal): Promise<void> {
  let seen: Indexed<CallerRights> | undefined;
  for (let failures = 0; !signal.aborted; ) {
    const read = await box.tokens.rights({ signal, wait: '60s', ...(seen === undefined ? {} : { index: seen.index }) });
    if (read.isErr()) {
      failures += 1;
      await pause(failures, signal);
      continue;
    }
    failures = 0;
    const changed = seen !== undefined && seen.index !== read.value.index;
    seen = read.value;
    relay({ type: 'rights', rights: withSkew(seen.value) });
    // What was refused may be allowed now, and the stream ends when rights change.
    if (changed) relay({ type: 'missed' });
  }
}

const latest = Number.MAX_SAFE_INTEGER;

async function followEvents(signal: AbortSignal): Promise<void> {
  let index = latest;
  for (let failures = 0; !signal.aborted; ) {
    await rightsKnown(signal);
    const topics: Topic[] = may('jobs.read', '*') ? ['Job', 'Evaluation', 'Allocation', 'Deployment', 'Service'] : [];
    if (mayInArea('node', 'read')) topics.push('Node');
    if (topics.length === 0) return;
    try {
      for await (const batch of box.cluster.events({ namespace: '*', topics, index, signal })) {
        failures = 0;
        if ('Missed' in batch) relay({ type: 'missed' });
        else if (index !== latest || batch.Events.length > 0) relayEvents(batch.Events);
        index = batch.Index + 1;
      }
    } catch {
      if (signal.aborted) return;
    }
    failures += 1;
    await pause(failures, signal);
    if (index === latest) relay({ type: 'missed' });
  }
}

function relayEvents(events: readonly { readonly Topic: string; readonly Key: string }[]): void {
  relay({ type: 'changes', changes: events.map(({ Topic, Key }) => ({ topic: Topic as Topic, key: Key })) });
}

function rightsKnown(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || rights.peek() !== undefined) return resolve();
    const stop = rights.subscribe((known) => {
      if (known === undefined) return;
      resolve();
      queueMicrotask(() => stop());
    });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** One second, doubled for each failure until half a minute, with a random part so that many pages do not return at once. */
function pause(failures: number, signal: AbortSignal): Promise<void> {
  const time = Math.min(1000 * 2 ** Math.min(failures - 1, 5), 30_000) * (0.75 + Math.random() / 2);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
