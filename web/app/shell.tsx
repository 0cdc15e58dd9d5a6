import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Dialog, QuestionDialog } from '../parts/dialog.js';
import { Text } from '../parts/text.js';
import { Toasts } from '../parts/toasts.js';
import { durationText } from '../rules/durations.js';
import { Find } from './find.js';
import { moveRow, useKey } from './keys.js';
import { lazy } from './lazy.js';
import { connection, isOutdated, isPaused } from './live.js';
import { prefer, preferences } from './preferences.js';
import { callerName, may, mayInArea, namespaceNames, rights } from './rights.js';
import { addressOf, arrivals, Link, navigate, place, scrollWanted, section, setQuery } from './router.js';
import { session, signOut } from './session.js';
import { pageTitle, settings } from './settings.js';
import { SignInAgain, SignInPage } from './sign-in.js';
import { serverNow, zone } from './time.js';

/** Whether the page has been shown with a session: later the form appears above it, so that nothing is lost. */
let wasShown = false;
const isFinding = signal(false);
const isHelping = signal(false);

/** The namespace of lists, of the address; all when it names none. */
export function namespaceWanted(): string {
  return place.value.query.get('ns') ?? '*';
}

interface Section {
  readonly path: string;
  readonly title: string;
  /** The second key of the sequence that begins with G. */
  readonly key: string;
  readonly isShown: () => boolean;
  /** First segments of further addresses that belong to it. */
  readonly also?: readonly string[];
}

const sections: readonly Section[] = [
  { path: '', title: 'Now', key: 'h', isShown: () => true },
  {
    path: 'jobs',
    title: 'Jobs',
    key: 'j',
    isShown: () => may('jobs.list', '*') || may('jobs.read', '*'),
    also: ['allocs', 'bulk', 'evaluations', 'runs'],
  },
  { path: 'functions', title: 'Functions', key: 'f', isShown: () => may('functions.list', '*') },
  { path: 'schedule', title: 'Schedule', key: 's', isShown: () => may('jobs.read', '*') },
  { path: 'nodes', title: 'Nodes', key: 'd', isShown: () => mayInArea('node', 'read'), also: ['topology'] },
  {
    path: 'notify',
    title: 'Notify',
    key: 'n',
    isShown: () => Object.keys(rights.value?.workspaces ?? {}).length > 0 || rights.value?.management === true,
  },
  { path: 'timeline', title: 'Timeline', key: 't', isShown: () => true },
  { path: 'variables', title: 'Variables', key: 'v', isShown: () => true },
  { path: 'access', title: 'Access', key: 'a', isShown: () => true },
  { path: 'system', title: 'System', key: 'y', isShown: () => true },
];

const ClockBar = lazy(() => import('./clock-bar.js').then((each) => each.ClockBar));

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const state = session.value;
  if (state === 'unknown') return <div class="skeleton" aria-busy="true" />;
  if (state === 'signed-out' && !wasShown) return <SignInPage />;
  wasShown = true;
  return (
    <>
      <a class="skip" href={`${location.pathname}${location.search}#main`} onClick={focusMain}>
        Skip to the content
      </a>
      <Header />
      {settings.hasClock === true && <ClockBar />}
      <div class="frame">
        <nav class="side" aria-label="Sections">
          <ul>
            {sections
              .filter(({ isShown }) => isShown())
              .map(({ path, title, also = [] }) => (
                <li key={path}>
                  <Link
                    to={addressOf(path === '' ? [] : [path])}
                    {...(section.value === path || also.includes(section.value) ? { 'aria-current': 'page' } : {})}
                  >
                    {title}
                  </Link>
                </li>
              ))}
          </ul>
        </nav>
        <main id="main">{rights.value === undefined ? <div class="skeleton" aria-busy="true" /> : children}</main>
      </div>
      <Keys />
      <QuestionDialog />
      {isFinding.value && <Find close={() => (isFinding.value = false)} />}
      {isHelping.value && <Help />}
      {isChoosingZone.value && <ZoneDialog />}
      {state === 'signed-out' && <SignInAgain />}
      <Toasts />
    </>
  );
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('main h1')?.focus();
}

function Header() {
  return (
    <header class="bar">
      <Link to={addressOf([])} class="brand">
        <Text of={pageTitle} />
      </Link>
      <NamespaceChoice />
      <button type="button" onClick={() => (isFinding.value = true)}>
        Find <kbd>Ctrl K</kbd>
      </button>
      <span class="room" />
      {(settings.links ?? []).map(({ label, href }) => (
        <a key={href} href={href} rel="noreferrer">
          <Text of={label} />
        </a>
      ))}
      <ZoneChoice />
      <Connection />
      <Caller />
    </header>
  );
}

function NamespaceChoice() {
  const names = namespaceNames.value;
  if (names.length < 2) return null;
  return (
    <label>
      <span class="sr">Namespace</span>
      <select
        value={namespaceWanted()}
        onChange={(event) =>
          setQuery({ ns: event.currentTarget.value === '*' ? undefined : event.currentTarget.value })
        }
      >
        <option value="*">all namespaces</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const other = 'other';
const isChoosingZone = signal(false);
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function ZoneChoice() {
  const chosen = preferences.value.zone;
  const zones = [...new Set(['UTC', ...(chosen === '' ? [] : [chosen])])];
  const choose = (wanted: string): void => {
    if (wanted === other) isChoosingZone.value = true;
    else prefer({ zone: wanted });
  };
  return (
    <label title={`Times are shown in ${zone.value}`}>
      <span class="sr">Time zone</span>
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{ownZone} (mine)</option>
        {zones.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
        <option value={other}>Another zone…</option>
      </select>
    </label>
  );
}

/** All zones that the browser knows. */
function ZoneDialog() {
  const close = (): void => {
    isChoosingZone.value = false;
  };
  const choose = (event: Event): void => {
    event.preventDefault();
    prefer({ zone: String(new FormData(event.currentTarget as HTMLFormElement).get('zone')) });
    close();
  };
  return (
    <Dialog title="Time zone" close={close}>
      <form onSubmit={choose}>
        <div class="field">
          <label for="zone">Zone in which times are shown</label>
          <select id="zone" name="zone" autofocus defaultValue={zone.value}>
            {Intl.supportedValuesOf('timeZone').map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
          <small>A schedule is always shown in its own zone.</small>
        </div>
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Choose
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Connection() {
  const { value } = connection;
  const toggle = (): void => {
    isPaused.value = !isPaused.value;
  };
  if (value.state === 'lost')
    return (
      <span class="mark failed" role="status">
        ✕ reconnecting, stale for {durationText(Math.max(1000, Date.now() - value.since + 0 * serverNow.value))}
      </span>
    );
  if (isOutdated.value)
    return (
      <span role="status">
        <button type="button" class="primary" onClick={() => location.reload()}>
          The server has another version: reload
        </button>
      </span>
    );
  return (
    <button type="button" class="quiet" onClick={toggle} title="Pause or continue updates (P)">
      {value.state === 'paused' ? '◔ paused' : '● live'}
    </button>
  );
}

function Caller() {
  return (
    <>
      <span title="What you are signed in as">
        <Text of={callerName.value} />
      </span>
      {settings.signIn === 'token' && (
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      )}
    </>
  );
}

function Keys() {
  useKey('ctrl k', () => (isFinding.value = true));
  useKey('?', () => (isHelping.value = true));
  useKey('p', () => (isPaused.value = !isPaused.value));
  useKey('j', () => moveRow(1));
  useKey('k', () => moveRow(-1));
  for (const { path, key, isShown } of sections)
    useKey(`g ${key}`, isShown() ? () => navigate(addressOf(path === '' ? [] : [path])) : undefined);
  return null;
}

function Help() {
  const keys = [
    ['Ctrl K', 'Find a job, an allocation, a configuration'],
    ['/', 'Go to the filter of the list'],
    ['J K', 'Next and previous row; Enter opens it'],
    ...sections.map(({ key, title }) => [`G ${key.toUpperCase()}`, title] as const),
    ['E', 'Edit the job'],
    ['L', 'Logs of the job'],
    ['P', 'Pause or continue updates'],
    ['?', 'This list'],
  ] as const;
  return (
    <Dialog title="Keys" close={() => (isHelping.value = false)}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={preferences.value.singleKeys}
          onChange={(event) => prefer({ singleKeys: event.currentTarget.checked })}
        />
        Single keys act
      </label>
      <label>
        <input
          type="checkbox"
          checked={preferences.value.density === 'compact'}
          onChange={(event) => prefer({ density: event.currentTarget.checked ? 'compact' : 'comfortable' })}
        />
        Compact rows
      </label>
      <div class="actions">
        <button type="button" autofocus onClick={() => (isHelping.value = false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

interface ScreenProps {
  /** The heading and the title of the document. */
  readonly title: string;
  readonly crumbs?: readonly { readonly label: string; readonly to: string }[];
  /** Beside the heading: the state, and what can be done. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen with its heading, which gets the focus when a person has navigated to it. */
export function Screen({ title, crumbs = [], beside, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · ${pageTitle}`;
  }, [title]);
  useEffect(() => {
    if (arrivals.value === 0) return;
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    const wanted = scrollWanted.value;
    if (wanted === undefined) return;
    scrollWanted.value = undefined;
    scrollTo(0, wanted);
  }, [arrivals.value]);
  return (
    <>
      {crumbs.length > 0 && (
        <nav aria-label="Path">
          <ol class="crumbs">
            {crumbs.map(({ label, to }) => (
              <li key={to}>
                <Link to={to}>
                  <Text of={label} />
                </Link>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="title">
        <h1 tabIndex={-1}>
          <Text of={title} />
        </h1>
        {beside}
      </div>
      {children}
    </>
  );
}

/** Tabs of a record, each with its address. */
export function Tabs({
  tabs,
  current,
}: {
  readonly tabs: readonly { readonly name: string; readonly label: string; readonly to: string }[];
  readonly current: string;
}) {
  return (
    <nav class="tabs" aria-label="Views of this record">
      {tabs.map(({ name, label, to }) => (
        <Link key={name} to={to} {...(name === current ? { 'aria-current': 'page' } : {})}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
