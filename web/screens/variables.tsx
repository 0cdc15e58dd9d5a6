import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { box, type EntryOf, type Failure, messageOf, type ValueOf } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { may, namespaceNames, rights } from '../app/rights.js';
import { addressOf, guardLeaving, Link, navigate, place, setQuery } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { Countdown, serverNow, Time } from '../app/time.js';
import { ask } from '../parts/dialog.js';
import { Facts, FailureNote, Field, Select } from '../parts/form.js';
import { Mark } from '../parts/marks.js';
import { type Column, DataTable } from '../parts/table.js';
import { Copy, LongText, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { counted } from '../rules/durations.js';
import {
  addressSegments,
  differences,
  entriesBelow,
  type ItemRow,
  itemsOfRows,
  jobOfPath,
  merged,
  type TreeEntry,
} from '../rules/variable-paths.js';

/*
 * Values are in the state of the component that shows them, and nowhere else: reads that are kept have names only.
 */

type Stub = EntryOf<typeof box.variables.list>;
type Items = Readonly<Record<string, string>>;
type Answer = ValueOf<typeof box.variables.read>;

/** Variables of a list that are read at once. */
const mostListed = 1000;
/** Values are hidden again after so many milliseconds. */
const shownFor = 30_000;

function variableAddress(namespace: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  return addressOf(['variables', namespace, ...addressSegments(path)], query);
}

/** The screen of `variables/NAMESPACE/PATH…`. */
export function VariablesScreen({ segments }: { readonly segments: readonly string[] }) {
  const [namespace, ...path] = segments;
  if (namespace === undefined) return <AllVariables />;
  if (path.length === 0) return <Folder namespace={namespace} />;
  return <VariableScreen namespace={namespace} path={path.join('/')} />;
}

function AllVariables() {
  const namespace = namespaceWanted();
  if (namespace !== '*') return <Folder namespace={namespace} />;
  return <Namespaces />;
}

/** The namespaces with variables, or of a single one its variables. */
function Namespaces() {
  const list = useRead('variables:*', {
    waits: true,
    read: (how) => box.variables.list({ namespace: '*', perPage: mostListed, ...how }),
  });
  return (
    <Screen title="Variables" beside={<NewVariable />}>
      <View
        reading={list}
        what="the variables"
        needs="a rule for variables"
        isEmpty={({ items }) => items.length === 0}
        empty={<NoVariables />}
      >
        {({ items, nextToken }) => {
          const names = [...new Set(items.map(({ Namespace }) => Namespace))];
          const [only] = names;
          return (
            <>
              <Cut isCut={nextToken !== ''} count={items.length} />
              {only !== undefined && names.length === 1 && nextToken === '' ? (
                <Tree namespace={only} variables={items} prefix="" />
              ) : (
                <ul class="panel">
                  {names.map((name) => (
                    <li key={name} class="line">
                      <Link to={addressOf(['variables', name])} data-row-link>
                        <Text of={name} />/
                      </Link>
                      <small>
                        {nextToken !== '' && name === names.at(-1) ? 'at least ' : ''}
                        {counted(items.filter((each) => each.Namespace === name).length, 'variable')}
                      </small>
                    </li>
                  ))}
                </ul>
              )}
            </>
          );
        }}
      </View>
    </Screen>
  );
}

function Cut({ isCut, count }: { readonly isCut: boolean; readonly count: number }) {
  if (!isCut) return null;
  return (
    <p class="hint">
      The first {counted(count, 'variable')} by namespace and path are shown; there are more. Open a folder, or a path
      in the address, to see those below it.
    </p>
  );
}

function NoVariables() {
  return (
    <>
      <p>There is no variable that you may list.</p>
      <p>
        <code>signalbox var put PATH NAME=VALUE</code> stores one, and a task reads those of its job at{' '}
        <code>nomad/jobs/JOB</code>.
      </p>
    </>
  );
}

function Folder({ namespace }: { readonly namespace: string }) {
  return (
    <Screen
      title={`Variables of ${namespace}`}
      crumbs={[{ label: 'Variables', to: addressOf(['variables']) }]}
      beside={<NewVariable namespace={namespace} />}
    >
      <Below namespace={namespace} prefix="" />
    </Screen>
  );
}

/** The entries below a prefix, which is empty or ends with a slash. */
function Below({ namespace, prefix }: { readonly namespace: string; readonly prefix: string }) {
  const list = useRead(`variables:${namespace}/${prefix}`, {
    // The variable itself is waited for when there is one.
    ...(prefix === '' ? { waits: true } : { every: 15_000 }),
    read: (how) => box.variables.list({ namespace, prefix, perPage: mostListed, ...how }),
  });
  return (
    <View
      reading={list}
      what="the variables"
      needs={`a rule for variables in ${namespace}`}
      isEmpty={({ items }) => prefix === '' && items.length === 0}
      empty={<NoVariables />}
    >
      {({ items, nextToken }) => (
        <>
          <Cut isCut={nextToken !== ''} count={items.length} />
          <Tree namespace={namespace} variables={items} prefix={prefix} />
        </>
      )}
    </View>
  );
}

interface TreeProps {
  readonly namespace: string;
  readonly variables: readonly Stub[];
  readonly prefix: string;
}

function Tree({ namespace, variables, prefix }: TreeProps) {
  const entries = entriesBelow(variables, prefix);
  if (entries.length === 0) return null;
  const columns: readonly Column<TreeEntry<Stub>>[] = [
    {
      key: 'path',
      title: prefix === '' ? 'Path' : `Below ${prefix}`,
      cell: (entry) => (
        <Link to={variableAddress(namespace, entry.path)} data-row-link>
          <Text of={entry.name} />
          {entry.type === 'folder' ? '/' : ''}
        </Link>
      ),
    },
    {
      key: 'what',
      title: 'What',
      cell: (entry) =>
        entry.type === 'folder' ? (
          counted(entry.count, 'variable')
        ) : entry.variable.Lock === undefined ? (
          'variable'
        ) : (
          <Mark mark="waiting" word="locked" />
        ),
    },
    {
      key: 'job',
      title: 'Read by tasks of',
      cell: ({ path }) => <JobLink namespace={namespace} path={path} />,
    },
    {
      key: 'changed',
      title: 'Changed',
      cell: (entry) => (entry.type === 'folder' ? '' : <Time at={entry.variable.ModifyTime} />),
    },
  ];
  return <DataTable name="Variables" columns={columns} rows={entries} idOf={({ type, path }) => `${type}:${path}`} />;
}

/** The job whose tasks read the variable by their own right. */
function JobLink({ namespace, path }: { readonly namespace: string; readonly path: string }) {
  const owner = jobOfPath(path);
  if (owner === undefined) return null;
  const { job, group, task } = owner;
  return (
    <>
      {may('jobs.read', namespace) ? (
        <Link to={addressOf(['jobs', namespace, job])}>
          <Text of={job} />
        </Link>
      ) : (
        <Text of={job} />
      )}
      {group !== undefined && (
        <small>
          , group <Text of={group} />
        </small>
      )}
      {task !== undefined && (
        <small>
          , task <Text of={task} />
        </small>
      )}
    </>
  );
}

function NewVariable({ namespace }: { readonly namespace?: string }) {
  const open = (): void => {
    const wanted = { namespace: namespace ?? 'default', path: '' };
    const names = [...new Set([wanted.namespace, ...namespaceNames.value])];
    ask({
      title: 'New variable',
      body: (
        <>
          <Field id="variable-namespace" label="Namespace">
            <Select
              id="variable-namespace"
              value={wanted.namespace}
              change={(name) => (wanted.namespace = name)}
              options={names}
            />
          </Field>
          <Field id="variable-path" label="Path" hint="Letters, digits, _, ~ and -, in segments separated by slashes.">
            <input
              id="variable-path"
              required
              pattern="[A-Za-z0-9_~\/\-]{1,128}"
              autocomplete="off"
              onInput={(event) => (wanted.path = event.currentTarget.value)}
            />
          </Field>
        </>
      ),
      action: 'Continue',
      run: () => okAsync(undefined),
      after: () => navigate(variableAddress(wanted.namespace, wanted.path, { edit: '1' })),
    });
  };
  return (
    <>
      <span class="room" />
      <button type="button" onClick={open}>
        New variable…
      </button>
    </>
  );
}

/** What the caller may do with one path. */
interface PathRights {
  readonly write: boolean;
  readonly destroy: boolean;
}

/**
 * The server is asked what the caller may do, because its rights do not list paths. Neither call can change anything: a write without items
 * is refused, and a removal with index 0 applies only to a variable that does not exist.
 */
function usePathRights(namespace: string, path: string): PathRights {
  const isManagement = rights.value?.management === true;
  const asked = useRead(`variable-rights:${isManagement}:${namespace}/${path}`, {
    read: ({ signal }) =>
      isManagement
        ? okAsync({ write: true, destroy: true })
        : ResultAsync.combine([
            isAllowed(box.variables.put(path, { namespace, signal })),
            isAllowed(box.variables.remove(path, { namespace, signal, cas: 0 })),
          ]).map(([write, destroy]) => ({ write, destroy })),
  });
  return asked.state.value.value ?? { write: false, destroy: false };
}

function isAllowed(call: ResultAsync<unknown, Failure>): ResultAsync<boolean, Failure> {
  return call
    .map(() => true)
    .orElse((error) =>
      error.type === 'permission_denied'
        ? okAsync(false)
        : error.type === 'items_missing'
          ? okAsync(true)
          : errAsync(error),
    );
}

function VariableScreen({ namespace, path }: { readonly namespace: string; readonly path: string }) {
  const found = useRead(`variable:${namespace}/${path}`, {
    waits: true,
    // A variable is the first of those whose paths begin with its own.
    read: (how) =>
      box.variables
        .list({ namespace, prefix: path, perPage: 1, ...how })
        .map(({ index, value }) => ({ index, value: { stub: value.items.find(({ Path }) => Path === path) } })),
  });
  const granted = usePathRights(namespace, path);
  const stub = found.state.value.value?.stub;
  const isEditing = place.value.query.get('edit') === '1' && granted.write;
  const edit = (): void => setQuery({ edit: '1' });
  const segments = addressSegments(path);
  const crumbs = [
    { label: 'Variables', to: addressOf(['variables']) },
    { label: namespace, to: addressOf(['variables', namespace]) },
    ...segments.slice(0, -1).map((label, at) => ({
      label,
      to: addressOf(['variables', namespace, ...segments.slice(0, at + 1)]),
    })),
  ];
  return (
    <Screen
      title={path}
      crumbs={crumbs}
      beside={
        <>
          {stub !== undefined && <Standing stub={stub} />}
          <Copy value={path} what="the path" />
          <span class="room" />
          {!isEditing && (
            <div class="actions">
              {granted.write && stub?.Lock === undefined && found.state.value.value !== undefined && (
                <button type="button" onClick={edit}>
                  {stub === undefined ? 'Create a variable here' : 'Edit'}
                </button>
              )}
              {granted.destroy && stub !== undefined && stub.Lock === undefined && (
                <button
                  type="button"
                  class="danger"
                  onClick={() => askRemoval(stub, () => navigate(addressOf(['variables', namespace])))}
                >
                  Remove…
                </button>
              )}
            </div>
          )}
        </>
      }
    >
      {jobOfPath(path) !== undefined && (
        <p>
          Read by tasks of <JobLink namespace={namespace} path={path} />
        </p>
      )}
      {isEditing ? (
        <ItemsForm namespace={namespace} path={path} refresh={found.refresh} />
      ) : (
        <View reading={found} what="the variable" needs={`a rule for variables in ${namespace}`}>
          {(value) =>
            value.stub === undefined ? (
              <p class="hint">There is no variable at this path, or you may not list it.</p>
            ) : (
              <ItemsPanel stub={value.stub} />
            )
          }
        </View>
      )}
      {!isEditing && <Below namespace={namespace} prefix={`${path}/`} />}
    </Screen>
  );
}

function Standing({ stub }: { readonly stub: Stub }) {
  return (
    <>
      {stub.Lock !== undefined && <Mark mark="waiting" word="locked" />}
      <span class="secondary">
        changed <Time at={stub.ModifyTime} />, created <Time at={stub.CreateTime} />
      </span>
    </>
  );
}

function askRemoval({ Namespace, Path, ModifyIndex }: Stub, after: () => void): void {
  ask({
    title: `Remove ${Path}`,
    body: (
      <p>
        Removes the variable from <Text of={Namespace} /> with all its items. It cannot be brought back. Tasks that have
        read it keep what they have until they read it again.
      </p>
    ),
    action: 'Remove',
    isDestructive: true,
    run: () =>
      box.variables.remove(Path, { namespace: Namespace, cas: ModifyIndex }).andThen(({ conflict, value }) =>
        conflict
          ? errAsync<undefined, Failure>({
              type: 'conflict',
              message:
                value.Lock === undefined
                  ? 'It was changed meanwhile: look at it again first.'
                  : 'It is locked: only the holder of the lock can change it.',
            })
          : okAsync<undefined, Failure>(undefined),
      ),
    after: () => {
      announce(`${Path} is removed`);
      after();
    },
  });
}

/** The names of the items; their values for a short time when they are asked for. */
function ItemsPanel({ stub }: { readonly stub: Stub }) {
  const { Namespace: namespace, Path: path, ModifyIndex, Lock } = stub;
  const names = useRead(`variable-names:${ModifyIndex}:${namespace}/${path}`, {
    read: ({ signal }) => box.variables.read(path, { namespace, signal }).map(({ value }) => namesOf(value)),
  });
  const [shown, setShown] = useState<{ readonly items: Items; readonly until: number } | undefined>(undefined);
  const [failure, setFailure] = useState('');
  useEffect(() => {
    if (shown === undefined) return;
    const timer = setTimeout(() => setShown(undefined), shownFor);
    return () => clearTimeout(timer);
  }, [shown]);
  const show = async (): Promise<void> => {
    setFailure('');
    const read = await box.variables.read(path, { namespace });
    read.match(
      ({ value }) => setShown({ items: value?.Items ?? {}, until: serverNow.peek() + shownFor }),
      (error) => setFailure(messageOf(error)),
    );
  };
  return (
    <section class="panel">
      <h2>Items</h2>
      {Lock !== undefined && (
        <p class="notice waiting">
          It is locked for {Lock.TTL} from the last renewal: only the holder of the lock can change or remove it. If the
          lock is lost, nobody can take it for {Lock.LockDelay}.
        </p>
      )}
      <View
        reading={names}
        what="the items"
        needs={`read on this path in ${namespace}`}
        isEmpty={(list) => list.length === 0}
        empty={<p>It has no items: it exists for its lock.</p>}
      >
        {(list) => (
          <>
            <p class="actions">
              {shown === undefined ? (
                <button type="button" onClick={() => void show()}>
                  Show the values
                </button>
              ) : (
                <>
                  <button type="button" onClick={() => setShown(undefined)}>
                    Hide the values
                  </button>
                  <span class="hint">
                    Hidden again in <Countdown until={shown.until} />
                  </span>
                </>
              )}
            </p>
            <FailureNote of={failure} />
            <Facts
              style="items"
              of={(shown === undefined ? list : Object.keys(shown.items).sort()).map((name) => [
                <Text of={name} />,
                <Value of={shown?.items[name]} name={name} />,
              ])}
            />
          </>
        )}
      </View>
    </section>
  );
}

function namesOf(variable: Answer): readonly string[] {
  return Object.keys(variable?.Items ?? {}).sort();
}

/** A value, or that it is hidden. */
function Value({ of, name }: { readonly of: string | undefined; readonly name: string }) {
  if (of === undefined)
    return (
      <span class="secondary">
        <span aria-hidden="true">••••••••</span>
        <span class="sr">hidden</span>
      </span>
    );
  return (
    <>
      <pre>{of === '' ? <span class="secondary">empty</span> : <LongText of={of} />}</pre>
      <Copy value={of} what={`the value of ${name}`} />
    </>
  );
}

/** What the form began with. */
interface Base {
  /** Undefined when the caller may not read them. */
  readonly items: Items | undefined;
  /** The index for check-and-set; 0 when there was no variable. Undefined when it is not known. */
  readonly index: number | undefined;
}

interface FormProps {
  readonly namespace: string;
  readonly path: string;
  readonly refresh: () => Promise<void>;
}

/** Reads the items once for the form; what is written does not change under the hands by a later read. */
function ItemsForm(props: FormProps) {
  const { namespace, path } = props;
  const [base, setBase] = useState<Base | undefined>(undefined);
  const [failure, setFailure] = useState('');
  useEffect(() => {
    const ended = new AbortController();
    void box.variables.read(path, { namespace, signal: ended.signal }).match(
      ({ value }) => setBase({ items: value?.Items ?? {}, index: value?.ModifyIndex ?? 0 }),
      (error) => {
        if (error.type === 'permission_denied') setBase({ items: undefined, index: undefined });
        // A variable that does not exist is read as none.
        else if (!ended.signal.aborted) setFailure(messageOf(error));
      },
    );
    return () => ended.abort();
  }, []);
  if (failure !== '') return <FailureNote of={failure} lead="The items cannot be read: " />;
  return base === undefined ? <div class="skeleton" aria-busy="true" /> : <OpenForm {...props} base={base} />;
}

let rowCount = 0;

function rowsOf(items: Items): readonly ItemRow[] {
  const rows = Object.entries(items).sort(([a], [b]) => (a < b ? -1 : 1));
  return (rows.length === 0 ? [['', '']] : rows).map(([name = '', value = '']) => newRow(name, value));
}

function newRow(name = '', value = ''): ItemRow {
  rowCount += 1;
  return { key: rowCount, name, value };
}

function OpenForm({ namespace, path, refresh, base }: FormProps & { readonly base: Base }) {
  const before = useMemo(() => rowsOf(base.items ?? {}), []);
  const [rows, setRows] = useState(before);
  const [open, setOpen] = useState<ReadonlySet<number>>(
    () => new Set(before.filter(({ name }) => name === '').map(({ key }) => key)),
  );
  const [problem, setProblem] = useState('');
  const [theirs, setTheirs] = useState<NonNullable<Answer> | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const isChanged = JSON.stringify(rows) !== JSON.stringify(before);
  useEffect(() => {
    guardLeaving(isChanged ? () => confirm('Leave the page? What you have written is lost.') : undefined);
    return () => guardLeaving(undefined);
  }, [isChanged]);
  useEffect(() => {
    if (open.size === 0) return;
    const timer = setTimeout(() => setOpen(new Set()), shownFor);
    return () => clearTimeout(timer);
  }, [open, rows]);

  const change = (key: number, changes: Partial<ItemRow>): void =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changes } : row)));
  const toggle = (key: number): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const add = (): void => {
    const row = newRow();
    setRows([...rows, row]);
    setOpen(new Set([...open, row.key]));
    setTimeout(() => form.current?.querySelector<HTMLElement>(`#item-name-${row.key}`)?.focus());
  };
  const leave = (): void => {
    guardLeaving(undefined);
    navigate(variableAddress(namespace, path), { replace: true });
    void refresh();
  };
  const store = async (items: Items, index: number | undefined): Promise<void> => {
    setBusy(true);
    setProblem('');
    const written = await box.variables.put(path, { namespace, items, ...(index === undefined ? {} : { cas: index }) });
    setBusy(false);
    written.match(
      ({ conflict, value }) => {
        if (!conflict) {
          announce(`${path} is saved`);
          leave();
        } else if (value.Lock !== undefined && value.ModifyIndex === index)
          setProblem('Nothing was saved: the variable is locked, and only the holder of the lock can change it.');
        else setTheirs(value);
      },
      (error) => setProblem(`Nothing was saved: ${messageOf(error)}`),
    );
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const read = itemsOfRows(rows);
    if ('problem' in read) return setProblem(read.problem);
    await store(read.items, base.index);
  };
  const mine = itemsOfRows(rows);
  if (theirs !== undefined && 'items' in mine)
    return (
      <LostRace
        base={base.items ?? {}}
        mine={mine.items}
        theirs={theirs}
        isBusy={isBusy}
        problem={problem}
        store={store}
        discard={leave}
      />
    );
  return (
    <form class="panel form" ref={form} onSubmit={(event) => void save(event)} noValidate autocomplete="off">
      <h2>Items</h2>
      {base.items === undefined && (
        <p class="notice waiting">
          You may not read what is stored here: what you save replaces all its items, whatever they are.
        </p>
      )}
      {rows.map((row) => (
        <RowFields
          key={row.key}
          row={row}
          isOpen={open.has(row.key)}
          toggle={() => toggle(row.key)}
          change={(changes) => change(row.key, changes)}
          remove={() => setRows(rows.filter(({ key }) => key !== row.key))}
        />
      ))}
      <p>
        <button type="button" onClick={add}>
          Add an item
        </button>
      </p>
      <FailureNote of={problem} />
      <div class="actions">
        <button type="submit" class="primary" disabled={isBusy || !isChanged}>
          {isBusy ? 'Saving…' : 'Save'}
        </button>
        <button type="button" onClick={leave}>
          {isChanged ? 'Discard' : 'Cancel'}
        </button>
        <small>Values are hidden again after 30 s without a change; what you have written stays.</small>
      </div>
    </form>
  );
}

interface RowProps {
  readonly row: ItemRow;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly change: (changes: Partial<ItemRow>) => void;
  readonly remove: () => void;
}

/** One item: a hidden value is not in the document. */
function RowFields({ row: { key, name, value }, isOpen, toggle, change, remove }: RowProps) {
  return (
    <fieldset class="item">
      <legend class="sr">
        Item <Text of={name} />
      </legend>
      <div class="field">
        <label for={`item-name-${key}`}>Name</label>
        <input
          id={`item-name-${key}`}
          value={name}
          autocomplete="off"
          onInput={(event) => change({ name: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        {isOpen ? (
          <>
            <label for={`item-value-${key}`}>Value</label>
            <textarea
              id={`item-value-${key}`}
              class="mono"
              rows={Math.min(8, value.split('\n').length)}
              value={value}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => change({ value: event.currentTarget.value })}
            />
          </>
        ) : (
          <>
            <span class="label">Value</span>
            <Value of={undefined} name={name} />
          </>
        )}
      </div>
      <div class="actions">
        <button type="button" onClick={toggle}>
          {isOpen ? 'Hide' : 'Show and change'}
          <span class="sr">
            {' '}
            the value of <Text of={name} />
          </span>
        </button>
        <button type="button" class="danger" onClick={remove}>
          Remove
          <span class="sr">
            {' '}
            <Text of={name} />
          </span>
        </button>
      </div>
    </fieldset>
  );
}

interface RaceProps {
  readonly base: Items;
  readonly mine: Items;
  readonly theirs: NonNullable<Answer>;
  readonly isBusy: boolean;
  readonly problem: string;
  readonly store: (items: Items, index: number) => Promise<void>;
  readonly discard: () => void;
}

/** Somebody else has changed the variable meanwhile: both versions, and the choice. */
function LostRace({ base, mine, theirs, isBusy, problem, store, discard }: RaceProps) {
  const [choices, setChoices] = useState<Readonly<Record<string, 'mine' | 'theirs'>>>({});
  const [shows, setShows] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [theirs]);
  useEffect(() => {
    if (!shows) return;
    const timer = setTimeout(() => setShows(false), shownFor);
    return () => clearTimeout(timer);
  }, [shows]);
  const isGone = theirs.CreateIndex === 0;
  const cannotRead = !isGone && theirs.Items === null;
  const other = theirs.Items ?? {};
  const changed = differences(base, mine, other);
  const result = cannotRead ? mine : merged(base, mine, other, choices);
  return (
    <section class="panel" role="alert">
      <h2 ref={heading} tabIndex={-1}>
        Nothing was saved: it has changed meanwhile
      </h2>
      <p>
        {isGone ? (
          'Somebody has removed the variable since you began.'
        ) : (
          <>
            Somebody has changed it <Time at={theirs.ModifyTime} />, since you began.
          </>
        )}
        {cannotRead && ' You may not read what it holds now: saving replaces it.'}
      </p>
      {!cannotRead && (
        <>
          <p>
            <button type="button" onClick={() => setShows(!shows)}>
              {shows ? 'Hide the values' : 'Show the values'}
            </button>
          </p>
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Item</th>
                  <th scope="col">Yours</th>
                  <th scope="col">There now</th>
                </tr>
              </thead>
              <tbody>
                {changed.map(({ name, mine: own, theirs: their, isConflict }) => {
                  const side = (of: 'mine' | 'theirs', deed: string, items: Items) => (
                    <td>
                      {isConflict ? (
                        <label>
                          <input
                            type="radio"
                            name={`choice-${name}`}
                            checked={(choices[name] ?? 'mine') === of}
                            onChange={() => setChoices({ ...choices, [name]: of })}
                          />{' '}
                          {deed}
                        </label>
                      ) : (
                        deed
                      )}
                      {Object.hasOwn(items, name) && <Value of={shows ? items[name] : undefined} name={name} />}
                    </td>
                  );
                  return (
                    <tr key={name}>
                      <th scope="row">
                        <Text of={name} />
                      </th>
                      {side('mine', own, mine)}
                      {side('theirs', their, other)}
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          <p class="hint">
            What only one side has changed is taken from that side. Choose where both have changed an item.
          </p>
        </>
      )}
      {problem !== '' && (
        <p class="notice failed">
          <Text of={problem} />
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={isBusy || Object.keys(result).length === 0}
          onClick={() => void store(result, theirs.ModifyIndex)}
        >
          {isGone ? 'Create it again' : cannotRead ? 'Replace it' : 'Save both together'}
        </button>
        {!isGone && !cannotRead && (
          <button type="button" disabled={isBusy} onClick={() => void store(mine, theirs.ModifyIndex)}>
            Save only mine
          </button>
        )}
        <button type="button" onClick={discard}>
          {isGone ? 'Leave it removed' : 'Keep what is there'}
        </button>
      </div>
    </section>
  );
}
