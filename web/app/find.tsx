import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.js';
import { Text } from '../parts/text.js';
import { box, messageOf } from './engine.js';
import { rights } from './rights.js';
import { addressOf, Link } from './router.js';

interface Found {
  readonly kind: string;
  readonly name: string;
  readonly where: string;
  readonly to: string;
}

interface Answer {
  readonly found: readonly Found[];
  /** Kinds of which more match than are listed. */
  readonly cut: readonly string[];
  readonly failure: string;
}

const nothing: Answer = { found: [], cut: [], failure: '' };

/** Finds jobs, allocations, nodes, workspaces, configurations, events and deliveries by a part of the name or the beginning of the ID. */
export function Find({ close }: { readonly close: () => void }) {
  const [asked, setAsked] = useState('');
  const [answer, setAnswer] = useState<Answer>(nothing);
  const latest = useRef(0);
  const whole = useRef<HTMLDivElement>(null);
  useEffect(() => {
    latest.current += 1;
    const turn = latest.current;
    if (asked.trim().length < 2) return setAnswer(nothing);
    const find = async (): Promise<void> => {
      const next = await search(asked.trim());
      if (turn === latest.current) setAnswer(next);
    };
    const timer = setTimeout(() => void find(), 120);
    return () => clearTimeout(timer);
  }, [asked]);
  useEffect(() => {
    const element = whole.current;
    element?.addEventListener('keydown', move);
    return () => element?.removeEventListener('keydown', move);
  }, []);
  const move = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const stops = [...document.querySelectorAll<HTMLElement>('.find input, .find a')];
    stops[stops.indexOf(document.activeElement as HTMLElement) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
  };
  return (
    <Dialog title="Find" close={close}>
      <div class="find stack" ref={whole}>
        <input
          type="search"
          autofocus
          aria-label="Name or the beginning of an ID"
          placeholder="Job, allocation, node, configuration, event"
          value={asked}
          onInput={(event) => setAsked(event.currentTarget.value)}
        />
        <p class="hint" role="status">
          {answer.failure !== '' ? (
            <Text of={answer.failure} />
          ) : asked.trim().length < 2 ? (
            'Two characters at least.'
          ) : (
            `${answer.found.length} found${answer.cut.length === 0 ? '' : `; more ${answer.cut.join(', ')} match`}.`
          )}
        </p>
        <ul>
          {answer.found.map(({ kind, name, where, to }) => (
            <li key={to + name}>
              <Link to={to} onClick={close}>
                <Text of={name} />{' '}
                <small>
                  {kind} <Text of={where} />
                </small>
              </Link>
            </li>
          ))}
        </ul>
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}

async function search(text: string): Promise<Answer> {
  const hasWorkspaces = rights.value?.management === true || Object.keys(rights.value?.workspaces ?? {}).length > 0;
  const [jobs, notify] = await Promise.all([
    box.search.fuzzy(text, 'all', { namespace: '*' }),
    hasWorkspaces ? box.notifications.search(text) : undefined,
  ]);
  const found: Found[] = [];
  const cut: string[] = [];
  let failure = '';
  if (jobs.isErr()) failure = jobs.error.type === 'permission_denied' ? '' : messageOf(jobs.error);
  else {
    const { Matches, Truncations } = jobs.value;
    for (const { ID, Scope = [] } of Matches.jobs ?? []) {
      // The name of a job has its namespace and its ID in the scope.
      const [namespace = 'default', id = ID] = Scope;
      found.push({ kind: 'job', name: ID, where: namespace, to: addressOf(['jobs', namespace, id]) });
    }
    for (const { ID, Scope = [] } of Matches.allocs ?? [])
      found.push({ kind: 'allocation', name: ID, where: Scope[0] ?? '', to: addressOf(['allocs', Scope[1] ?? ID]) });
    for (const { ID, Scope = [] } of Matches.nodes ?? [])
      found.push({ kind: 'node', name: ID, where: '', to: addressOf(['nodes', Scope[0] ?? ID]) });
    cut.push(...Object.entries(Truncations).flatMap(([kind, isCut]) => (isCut === true ? [kind] : [])));
  }
  if (notify?.isErr() === true) failure ||= messageOf(notify.error);
  if (notify?.isOk() === true) {
    const { workspaces, configurations, events, deliveries } = notify.value;
    for (const { id, name } of workspaces)
      found.push({ kind: 'workspace', name, where: id, to: addressOf(['notify', id]) });
    for (const { id, name, workspaceId, host } of configurations)
      found.push({ kind: 'configuration', name, where: host, to: addressOf(['notify', workspaceId, 'c', id]) });
    for (const { id, workspaceId, trigger } of events)
      found.push({ kind: 'event', name: trigger, where: id, to: addressOf(['notify', workspaceId, 'events', id]) });
    for (const { id, workspaceId, trigger, outcome } of deliveries)
      found.push({
        kind: 'delivery',
        name: trigger,
        where: `${id}, ${outcome}`,
        to: addressOf(['notify', workspaceId, 'deliveries', id]),
      });
    cut.push(...notify.value.cut);
  }
  return { found, cut, failure };
}
