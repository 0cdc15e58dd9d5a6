import type { ResultAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseDurationNanos } from '../../src/shared/duration.js';
import { box, type EntryOf, type Failure, messageOf, type ValueOf } from '../app/engine.js';
import { type Reading, useRead } from '../app/read.js';
import { callerName, rights } from '../app/rights.js';
import { addressOf, guardLeaving, Link, navigate, place, setQuery } from '../app/router.js';
import { Screen, Tabs } from '../app/shell.js';
import { Time } from '../app/time.js';
import { ask } from '../parts/dialog.js';
import { type Fact, Facts, Field, Select, TextField } from '../parts/form.js';
import { type Column, DataTable } from '../parts/table.js';
import { Copy, Id, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { counted } from '../rules/durations.js';
import { faultPosition, offsetOf, ruleLines } from '../rules/policy-words.js';
import { TryPolicy } from './try-policy.js';

type TokenEntry = EntryOf<typeof box.tokens.list>;
type TokenAnswer = NonNullable<ValueOf<typeof box.tokens.read>>;
type Token = Omit<TokenAnswer, 'SecretID'>;
type PolicyEntry = EntryOf<typeof box.policies.list>;
type Policy = NonNullable<ValueOf<typeof box.policies.read>>;
type Role = NonNullable<ValueOf<typeof box.roles.read>>;

const mostListed = 1000;
const isManagement = (): boolean => rights.value?.management === true;

const tokensAddress = addressOf(['access', 'tokens']);
const policiesAddress = addressOf(['access', 'policies']);
const rolesAddress = addressOf(['access', 'roles']);

/** The screens below `access`. */
export function AccessScreen({ path }: { readonly path: readonly string[] }) {
  const [kind, id] = path;
  if (kind === undefined) return <Own />;
  if (kind === 'tokens') return id === undefined ? <Tokens /> : <TokenScreen accessor={id} />;
  if (kind === 'policies') return id === undefined ? <Policies /> : <PolicyScreen name={id} />;
  if (kind === 'roles') return id === undefined ? <Roles /> : <RoleScreen id={id} />;
  if (kind === 'try') return <Trial />;
  if (kind === 'new-token') return <New title="New token" list="Tokens" to={tokensAddress} form={<TokenForm />} />;
  if (kind === 'new-policy')
    return <New title="New policy" list="Policies" to={policiesAddress} form={<PolicyForm />} />;
  if (kind === 'new-role') return <New title="New role" list="Roles" to={rolesAddress} form={<RoleForm />} />;
  return (
    <Screen title="Not found">
      <div class="state">
        <p>There is no page at this address.</p>
        <Link to={addressOf(['access'])}>Access</Link>
      </div>
    </Screen>
  );
}

function AccessTabs({ current }: { readonly current: string }) {
  const tabs = [
    { name: '', label: 'What you may do', to: addressOf(['access']) },
    ...(isManagement() ? [{ name: 'tokens', label: 'Tokens', to: tokensAddress }] : []),
    { name: 'policies', label: 'Policies', to: policiesAddress },
    { name: 'roles', label: 'Roles', to: rolesAddress },
    ...(isManagement() ? [{ name: 'try', label: 'Try rules', to: addressOf(['access', 'try']) }] : []),
  ];
  return <Tabs tabs={tabs} current={current} />;
}

function Trial() {
  return (
    <Screen title="Try rules">
      <AccessTabs current="try" />
      {isManagement() ? <TryPolicy key={place.value.query.get('policy') ?? ''} /> : <Refused what="try" />}
    </Screen>
  );
}

interface NewProps {
  readonly title: string;
  readonly list: string;
  readonly to: string;
  readonly form: ComponentChildren;
}

function New({ title, list, to, form }: NewProps) {
  return (
    <Screen title={title} crumbs={[{ label: list, to }]}>
      {isManagement() ? form : <Refused what="create" />}
    </Screen>
  );
}

function Refused({ what }: { readonly what: string }) {
  return (
    <div class="state">
      <p>
        You may not {what} this: it needs a management token; you are <Text of={callerName.value} />.
      </p>
    </div>
  );
}

/** What the caller may do, and by which policies. */
function Own() {
  const held = rights.value;
  const own = useRead('policies:own', { waits: true, read: (how) => box.policies.self(how) });
  const token = useRead('token:own', {
    read: ({ signal }) => box.tokens.self({ signal }).map(({ value }) => ({ token: withoutSecret(value) })),
  });
  if (held === undefined) return null;
  const of = token.state.value.value?.token;
  return (
    <Screen title="Access">
      <AccessTabs current="" />
      <section class="panel">
        <h2>What you may do</h2>
        <p>
          You are <Text of={callerName.value} />
          {held.management ? '. Everything is allowed.' : '.'}
        </p>
        {of !== undefined && held.accessor !== '' && (
          <Facts
            of={[
              ['Accessor of your token', <Id of={of.AccessorID} what="the accessor" />],
              ['It ends', <Time at={of.ExpirationTime} none="never by itself" />],
              (of.Roles ?? []).length > 0 && ['Roles', <RoleLinks roles={of.Roles ?? []} />],
            ]}
          />
        )}
        {!held.management && (
          <>
            <h3>By name</h3>
            <Facts
              of={[
                ...Object.entries(held.namespaces).map(([name, may]) => named('namespace', name, may.join(', '))),
                ...Object.entries(held.nodePools).map(([name, may]) => named('node pool', name, may.join(', '))),
                ...Object.entries(held.areas),
                ...Object.values(held.workspaces).map(({ name, right }) => named('workspace', name, right)),
              ]}
            />
            {held.isCut && <p class="hint">Only the first 1,000 names are listed.</p>}
          </>
        )}
      </section>
      {!held.management && (
        <section class="panel">
          <h2>Through which policies</h2>
          <View
            reading={own}
            what="your policies"
            isEmpty={(policies) => policies.length === 0}
            empty={<p>None: your rights come from the token itself or from the service that has signed you in.</p>}
          >
            {(policies) => <PolicyLinks names={policies.map(({ Name }) => Name)} />}
          </View>
          <p class="hint">
            Rights on variables are in the policies, by path. Missing rights are granted by policies, which management
            tokens can change.
          </p>
        </section>
      )}
    </Screen>
  );
}

function named(kind: string, name: string, right: string): Fact {
  return [
    <>
      {kind} <Text of={name} />
    </>,
    right,
  ];
}

function withoutSecret(answer: TokenAnswer | undefined): Token | undefined {
  if (answer === undefined) return undefined;
  const { SecretID: _secret, ...token } = answer;
  return token;
}

function PolicyLinks({ names }: { readonly names: readonly string[] }) {
  return (
    <span class="chips">
      {names.map((name) => (
        <Link key={name} class="chip" to={addressOf(['access', 'policies', name])}>
          <Text of={name} />
        </Link>
      ))}
    </span>
  );
}

function RoleLinks({ roles }: { readonly roles: readonly { readonly ID: string; readonly Name: string }[] }) {
  return (
    <span class="chips">
      {roles.map(({ ID, Name }) => (
        <Link key={ID} class="chip" to={addressOf(['access', 'roles', ID])}>
          <Text of={Name} />
        </Link>
      ))}
    </span>
  );
}

interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string;
}

interface ListProps<T> {
  readonly name: string;
  readonly noun: string;
  readonly reading: Reading<Page<T>>;
  readonly columns: readonly Column<T>[];
  readonly idOf: (entry: T) => string;
  readonly textOf: (entry: T) => string;
  readonly empty: ComponentChildren;
}

/** A list with a filter over what was read. */
function List<T>({ name, noun, reading, columns, idOf, textOf, empty }: ListProps<T>) {
  const asked = place.value.query.get('q') ?? '';
  return (
    <>
      <search>
        <div class="toolbar">
          <input
            type="search"
            aria-label="Filter"
            placeholder="Part of a name or a description"
            value={asked}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
        </div>
      </search>
      <View
        reading={reading}
        what={`the ${name.toLowerCase()}`}
        needs="a management token"
        isEmpty={({ items }) => items.length === 0}
        empty={empty}
      >
        {({ items, nextToken }) => {
          const shown = items.filter((entry) => textOf(entry).toLowerCase().includes(asked.toLowerCase()));
          return (
            <>
              {nextToken !== '' && (
                <p class="hint">The first {counted(items.length, noun)} are shown and filtered; there are more.</p>
              )}
              {shown.length === 0 ? (
                <div class="state">
                  <p>Nothing matches the filter.</p>
                  <button type="button" onClick={() => setQuery({ q: undefined })}>
                    Clear the filter
                  </button>
                </div>
              ) : (
                <DataTable name={name} columns={columns} rows={shown} idOf={idOf} />
              )}
            </>
          );
        }}
      </View>
    </>
  );
}

function NewLink({ to, children }: { readonly to: string; readonly children: ComponentChildren }) {
  if (!isManagement()) return null;
  return (
    <>
      <span class="room" />
      <Link class="button" to={addressOf(['access', to])}>
        {children}
      </Link>
    </>
  );
}

const tokenColumns: readonly Column<TokenEntry>[] = [
  {
    key: 'name',
    title: 'Token',
    cell: ({ AccessorID, Name }) => (
      <>
        <Link to={addressOf(['access', 'tokens', AccessorID])} data-row-link>
          <Text of={Name === '' ? 'without a name' : Name} />
        </Link>{' '}
        <Id of={AccessorID} what="the accessor" />
        {AccessorID === rights.value?.accessor && <small> you</small>}
      </>
    ),
  },
  { key: 'type', title: 'Type', cell: ({ Type }) => Type },
  { key: 'policies', title: 'Policies', cell: ({ Policies: names }) => <Text of={(names ?? []).join(', ')} /> },
  {
    key: 'roles',
    title: 'Roles',
    cell: ({ Roles: links }) => <Text of={(links ?? []).map(({ Name }) => Name).join(', ')} />,
  },
  { key: 'ends', title: 'Ends', cell: ({ ExpirationTime }) => <Time at={ExpirationTime} none="never" /> },
  { key: 'created', title: 'Created', cell: ({ CreateTime }) => <Time at={CreateTime} /> },
];

function Tokens() {
  const tokens = useRead('tokens', {
    waits: true,
    read: (how) => box.tokens.list({ perPage: mostListed, ...how }),
  });
  return (
    <Screen title="Tokens" beside={<NewLink to="new-token">New token</NewLink>}>
      <AccessTabs current="tokens" />
      <List
        name="Tokens"
        noun="token"
        reading={tokens}
        columns={tokenColumns}
        idOf={({ AccessorID }) => AccessorID}
        textOf={({ AccessorID, Name, Policies: names }) => [AccessorID, Name, ...(names ?? [])].join(' ')}
        empty={<p>There are none.</p>}
      />
    </Screen>
  );
}

function TokenScreen({ accessor }: { readonly accessor: string }) {
  const token = useRead(`token:${accessor}`, {
    waits: true,
    read: (how) => box.tokens.read(accessor, how).map(({ index, value }) => ({ index, value: withoutSecret(value) })),
  });
  const known = token.state.value.value;
  const isEditing = place.value.query.get('edit') === '1' && isManagement();
  return (
    <Screen
      title={known === undefined ? 'Token' : known.Name || 'Token without a name'}
      crumbs={
        isManagement() ? [{ label: 'Tokens', to: tokensAddress }] : [{ label: 'Access', to: addressOf(['access']) }]
      }
      beside={
        known !== undefined &&
        !isEditing && (
          <Actions isEditable={known.Type !== 'node'} remove={() => askRevocation(known)} removal={'Revoke…'} />
        )
      }
    >
      <View reading={token} what="the token" needs="a management token" gone={<p>It was revoked, or it has ended.</p>}>
        {(value) => (isEditing ? <TokenForm token={value} /> : <TokenFacts token={value} />)}
      </View>
    </Screen>
  );
}

interface ActionsProps {
  readonly isEditable?: boolean;
  readonly removal?: string;
  readonly remove: () => void;
}

function Actions({ isEditable = true, removal = 'Remove…', remove }: ActionsProps) {
  if (!isManagement()) return null;
  return (
    <>
      <span class="room" />
      <div class="actions">
        {isEditable && (
          <button type="button" onClick={() => setQuery({ edit: '1' })}>
            Edit
          </button>
        )}
        <button type="button" class="danger" onClick={remove}>
          {removal}
        </button>
      </div>
    </>
  );
}

function TokenFacts({ token }: { readonly token: Token }) {
  const rooms = Object.entries(token.Workspaces ?? {});
  const policies = token.Policies ?? [];
  const roles = token.Roles ?? [];
  return (
    <section class="panel">
      <Facts
        of={[
          [
            'Accessor',
            <>
              <Text of={token.AccessorID} /> <Copy value={token.AccessorID} what="the accessor" />{' '}
              <small>names the token; it is not the secret</small>
            </>,
          ],
          [
            'Type',
            <>
              {token.Type}
              {token.Type === 'management' && <small> everything is allowed</small>}
            </>,
          ],
          token.Type === 'client' && ['Policies', policies.length === 0 ? 'none' : <PolicyLinks names={policies} />],
          token.Type === 'client' && ['Roles', roles.length === 0 ? 'none' : <RoleLinks roles={roles} />],
          token.Type === 'node' && ['Node pool', <Text of={token.NodePool} />],
          token.Type === 'node' && [
            'Node',
            token.NodeID === undefined ? (
              'the first that registers with it'
            ) : (
              <Link to={addressOf(['nodes', token.NodeID])}>
                <Text of={token.NodeID} />
              </Link>
            ),
          ],
          ...rooms.map(([id, right]) => named('workspace', rights.value?.workspaces[id]?.name ?? id, right)),
          ['Created', <Time at={token.CreateTime} />],
          ['Ends', <Time at={token.ExpirationTime} none="never by itself" />],
        ]}
      />
      <p class="hint">Its secret was shown when it was created, and is not shown again.</p>
    </section>
  );
}

function askRevocation({ AccessorID, Name, Type }: Token): void {
  const isOwn = AccessorID === rights.value?.accessor;
  ask({
    title: `Revoke ${Name || AccessorID}`,
    body: (
      <>
        <p>Whoever uses this token is refused from then on, and its sessions end. It cannot be brought back.</p>
        {Type === 'node' && <p>The agent of its node cannot report any more.</p>}
        {isOwn && <p class="notice failed">You are signed in with it: you are signed out at once.</p>}
      </>
    ),
    action: 'Revoke',
    isDestructive: true,
    run: () => box.tokens.remove(AccessorID),
    after: () => {
      announce('The token is revoked');
      navigate(tokensAddress);
    },
  });
}

/** What is written in a form of a record, and how it is saved. */
function useForm<V extends object>(begin: () => V) {
  const before = useMemo(begin, []);
  const [values, setValues] = useState(before);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const isChanged = JSON.stringify(values) !== JSON.stringify(before);
  useGuard(isChanged);
  const set = (changes: Partial<V>): void => setValues({ ...values, ...changes });
  /** Sends what is written; `done` is called with the answer. */
  const save = async <T,>(
    event: Event,
    send: () => ResultAsync<T, Failure>,
    done: (answer: T) => void,
  ): Promise<void> => {
    event.preventDefault();
    setProblems([]);
    setBusy(true);
    const saved = await send();
    setBusy(false);
    saved.match(done, (error) => setProblems(problemsOf(error)));
  };
  return { values, set, problems, isBusy, isChanged, save };
}

/** Shows the record that was saved. */
function show(what: string, path: readonly string[], isNew: boolean): void {
  announce(`The ${what} is saved`);
  guardLeaving(undefined);
  navigate(addressOf(['access', ...path]), { replace: !isNew });
}

/** Leaves the edit mode of a record. */
function endEditing(): void {
  guardLeaving(undefined);
  setQuery({ edit: undefined });
}

function useGuard(isChanged: boolean): void {
  useEffect(() => {
    guardLeaving(isChanged ? () => confirm('Leave the page? What you have written is lost.') : undefined);
    return () => guardLeaving(undefined);
  }, [isChanged]);
}

/** All problems of an error, one string each. */
export function problemsOf(error: Failure): readonly string[] {
  return 'errors' in error && Array.isArray(error.errors) ? error.errors.map(String) : [messageOf(error)];
}

interface ProblemsProps {
  readonly of: readonly string[];
  readonly lead?: string | undefined;
}

export function Problems({ of, lead = 'Nothing was saved:' }: ProblemsProps) {
  if (of.length === 0) return null;
  return (
    <div class="notice failed" role="alert">
      <p>{lead}</p>
      <ul>
        {of.map((each) => (
          <li key={each}>
            <Text of={each} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface FormActionsProps {
  readonly isNew: boolean;
  readonly isBusy: boolean;
  readonly isChanged: boolean;
  /** Where a new record is left to. */
  readonly list: string;
}

function FormActions({ isNew, isBusy, isChanged, list }: FormActionsProps) {
  const cancel = (): void => {
    guardLeaving(undefined);
    if (isNew) navigate(list);
    else setQuery({ edit: undefined });
  };
  return (
    <div class="actions">
      <button type="submit" class="primary" disabled={isBusy || !isChanged}>
        {isBusy ? 'Saving…' : isNew ? 'Create' : 'Save'}
      </button>
      <button type="button" onClick={cancel}>
        {isChanged ? 'Discard' : 'Cancel'}
      </button>
    </div>
  );
}

interface ChoicesProps {
  readonly title: string;
  readonly reading: Reading<Page<{ readonly Name: string; readonly Description: string }>>;
  readonly chosen: readonly string[];
  readonly set: (chosen: readonly string[]) => void;
}

/** Names to choose from: those that exist, and those that the record has. */
function Choices({ title, reading, chosen, set }: ChoicesProps) {
  const { value } = reading.state.value;
  const known = new Map((value?.items ?? []).map(({ Name, Description }) => [Name, Description]));
  const names = [...new Set([...known.keys(), ...chosen])].sort();
  const toggle = (name: string): void =>
    set(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  return (
    <fieldset class="field">
      <legend class="label">{title}</legend>
      {value !== undefined && value.nextToken !== '' && <p class="hint">The first {value.items.length} are listed.</p>}
      {names.length === 0 && <p class="hint">{value === undefined ? 'They are being read.' : 'There are none.'}</p>}
      <ul class="choices">
        {names.map((name) => (
          <li key={name}>
            <label>
              <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
              <Text of={name} />{' '}
              <small>
                {value !== undefined && !known.has(name) ? 'does not exist now' : <Text of={known.get(name)} />}
              </small>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

function usePolicies(): Reading<Page<PolicyEntry>> {
  return useRead('policies:choice', {
    read: ({ signal }) => box.policies.list({ perPage: mostListed, signal }),
  });
}

function useRoles(): Reading<Page<Role>> {
  return useRead('roles:choice', { read: ({ signal }) => box.roles.list({ perPage: mostListed, signal }) });
}

const minute = 60_000;
const lifetimes = [
  ['', 'never by itself'],
  [String(15 * minute), 'in 15 min'],
  [String(60 * minute), 'in 1 h'],
  [String(8 * 60 * minute), 'in 8 h'],
  [String(24 * 60 * minute), 'in 24 h, the longest'],
] as const;

const workspaceRights = [
  ['', 'none'],
  ['events', 'may send events'],
  ['admin', 'may do everything there'],
] as const;

const typeHints = {
  client: 'May do what its policies and roles grant.',
  management: 'May do everything.',
  node: 'For the agent of one node, which needs no other token.',
};
const types = ['client', 'management', 'node'] as const;

interface TokenValues {
  readonly name: string;
  readonly type: (typeof types)[number];
  readonly policies: readonly string[];
  /** By name. */
  readonly roles: readonly string[];
  readonly workspaces: Readonly<Record<string, string>>;
  readonly pool: string;
  readonly lifetime: string;
}

/** A new token, whose secret is shown afterwards, or the rights of an existing one. */
function TokenForm({ token }: { readonly token?: Token }) {
  // The secret of a new token is here until it is closed, and nowhere else.
  const [made, setMade] = useState<TokenAnswer | undefined>(undefined);
  if (made !== undefined) return <Secret token={made} close={() => setMade(undefined)} />;
  return <TokenFields token={token} created={setMade} />;
}

interface TokenFieldsProps {
  readonly token: Token | undefined;
  readonly created: (token: TokenAnswer) => void;
}

function TokenFields({ token, created }: TokenFieldsProps) {
  const { values, set, problems, isBusy, isChanged, save } = useForm(() => tokenValues(token));
  const policies = usePolicies();
  const roles = useRoles();
  const content = contentOf(values, token);
  const submit = (event: Event): Promise<void> =>
    save(
      event,
      () => (token === undefined ? box.tokens.create(content) : box.tokens.update(token.AccessorID, content)),
      ({ value }) => {
        if (token === undefined) return created(value);
        announce('The token is saved');
        endEditing();
      },
    );
  const rooms = Object.entries(rights.value?.workspaces ?? {}).slice(0, 100);
  const isClient = values.type === 'client';
  return (
    <form class="panel form" onSubmit={(event) => void submit(event)} noValidate autocomplete="off">
      <TextField
        id="token-name"
        label="Name"
        value={values.name}
        set={(name) => set({ name })}
        most={256}
        hint="As people know it; it is written beside what its holder does."
      />
      {token === undefined && (
        <fieldset class="field">
          <legend class="label">Type</legend>
          <ul>
            {types.map((type) => (
              <li key={type}>
                <label>
                  <input type="radio" name="type" checked={values.type === type} onChange={() => set({ type })} />
                  {type} <small>{typeHints[type]}</small>
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
      )}
      {isClient && (
        <>
          <Choices
            title="Policies"
            reading={policies}
            chosen={values.policies}
            set={(chosen) => set({ policies: chosen })}
          />
          <Choices title="Roles" reading={roles} chosen={values.roles} set={(chosen) => set({ roles: chosen })} />
          {rooms.length > 0 && (
            <details>
              <summary>Rights on workspaces</summary>
              {rooms.map(([id, { name }]) => (
                <Field key={id} id={`workspace-${id}`} label={<Text of={name} />}>
                  <Select
                    id={`workspace-${id}`}
                    value={values.workspaces[id] ?? ''}
                    change={(right) => set({ workspaces: { ...values.workspaces, [id]: right } })}
                    options={workspaceRights}
                  />
                </Field>
              ))}
            </details>
          )}
        </>
      )}
      {values.type === 'node' && (
        <TextField
          id="token-pool"
          label="Node pool"
          value={values.pool}
          set={(pool) => set({ pool })}
          hint="The only pool that its node may join."
        />
      )}
      {token === undefined && (
        <Field id="token-lifetime" label="Ends" hint="This cannot be changed later.">
          <Select
            id="token-lifetime"
            value={values.lifetime}
            change={(lifetime) => set({ lifetime })}
            options={lifetimes}
          />
        </Field>
      )}
      <Problems of={problems} />
      <FormActions isNew={token === undefined} isBusy={isBusy} isChanged={isChanged} list={tokensAddress} />
    </form>
  );
}

function tokenValues(token: Token | undefined): TokenValues {
  return {
    name: token?.Name ?? '',
    type: token?.Type ?? 'client',
    policies: token?.Policies ?? [],
    roles: (token?.Roles ?? []).map(({ Name }) => Name),
    workspaces: token?.Workspaces ?? {},
    pool: token?.NodePool ?? 'default',
    lifetime: '',
  };
}

/** The members of the call. A change repeats what cannot be changed. */
function contentOf({ name, type, policies, roles, workspaces, pool, lifetime }: TokenValues, token: Token | undefined) {
  const given = Object.fromEntries(Object.entries(workspaces).filter(([, right]) => right !== ''));
  const kept = token === undefined ? Number(lifetime) : millisecondsIn(token.ExpirationTTL);
  return {
    name,
    type,
    ...(type === 'client' ? { policies, roles: roles.map((each) => ({ name: each })), workspaces: given } : {}),
    ...(type === 'node' ? { nodePool: pool } : {}),
    ...(kept > 0 ? { lifetime: kept } : {}),
    ...(token === undefined ? {} : { global: token.Global }),
    ...(token?.ExpirationTime == null ? {} : { expiresAt: Date.parse(token.ExpirationTime) }),
  };
}

function millisecondsIn(duration: string): number {
  return duration === ''
    ? 0
    : parseDurationNanos(duration).match(
        (nanos) => Number(nanos) / 1_000_000,
        () => 0,
      );
}

/** The secret of a new token, once. */
function Secret({ token, close }: { readonly token: TokenAnswer; readonly close: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    guardLeaving(() => confirm('The secret is not shown again. Leave the page?'));
    return () => guardLeaving(undefined);
  }, []);
  const leave = (): void => {
    guardLeaving(undefined);
    close();
    navigate(addressOf(['access', 'tokens', token.AccessorID]), { replace: true });
  };
  return (
    <section class="panel form">
      <h2 ref={heading} tabIndex={-1}>
        The token is created
      </h2>
      <p class="notice waiting">
        This is its secret. Keep it in a safe place now: it is not shown again, and whoever has it may do what the token
        may do.
      </p>
      <p class="field">
        <span class="label">Secret</span>
        <span>
          <code>
            <Text of={token.SecretID} />
          </code>{' '}
          <Copy value={token.SecretID} what="the secret" label="Copy the secret" />
        </span>
      </p>
      <p class="field">
        <span class="label">Accessor</span>
        <span>
          <code>
            <Text of={token.AccessorID} />
          </code>{' '}
          <small>names the token; it is not secret</small>
        </span>
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={leave}>
          I have the secret
        </button>
      </div>
    </section>
  );
}

const policyColumns: readonly Column<PolicyEntry>[] = [
  {
    key: 'name',
    title: 'Policy',
    cell: ({ Name }) => (
      <Link to={addressOf(['access', 'policies', Name])} data-row-link>
        <Text of={Name} />
      </Link>
    ),
  },
  { key: 'description', title: 'Description', cell: ({ Description }) => <Text of={Description} /> },
  {
    key: 'job',
    title: 'Also for tasks of',
    cell: ({ JobACL }) => (JobACL === null ? '' : <Text of={tasksText(JobACL)} />),
  },
];

type PolicyJob = NonNullable<PolicyEntry['JobACL']>;

function tasksText({ Namespace, JobID, Group, Task }: PolicyJob): string {
  return [`namespace ${Namespace}`, JobID && `job ${JobID}`, Group && `group ${Group}`, Task && `task ${Task}`]
    .filter((part) => part !== '')
    .join(', ');
}

function Policies() {
  const policies = useRead('policies', {
    waits: true,
    read: (how) => box.policies.list({ perPage: mostListed, ...how }),
  });
  return (
    <Screen title="Policies" beside={<NewLink to="new-policy">New policy</NewLink>}>
      <AccessTabs current="policies" />
      {!isManagement() && <p class="hint">Only the policies of your own token are listed.</p>}
      <List
        name="Policies"
        noun="policy"
        reading={policies}
        columns={policyColumns}
        idOf={({ Name }) => Name}
        textOf={({ Name, Description }) => `${Name} ${Description}`}
        empty={<p>There are none{isManagement() ? ': a client token needs at least one' : ' that your token has'}.</p>}
      />
    </Screen>
  );
}

function PolicyScreen({ name }: { readonly name: string }) {
  const policy = useRead(`policy:${name}`, { waits: true, read: (how) => box.policies.read(name, how) });
  const isEditing = place.value.query.get('edit') === '1' && isManagement();
  const known = policy.state.value.value;
  return (
    <Screen
      title={name}
      crumbs={[{ label: 'Policies', to: policiesAddress }]}
      beside={known !== undefined && !isEditing && <Actions remove={() => void askPolicyRemoval(name)} />}
    >
      <View
        reading={policy}
        what="the policy"
        needs="a management token, or that your own token has it"
        gone={<Link to={policiesAddress}>All policies</Link>}
      >
        {(value) => (isEditing ? <PolicyForm policy={value} /> : <PolicyFacts policy={value} />)}
      </View>
    </Screen>
  );
}

function PolicyFacts({ policy }: { readonly policy: Policy }) {
  const lines = ruleLines(policy.RulesJSON);
  return (
    <>
      {policy.Description !== '' && (
        <p>
          <Text of={policy.Description} />
        </p>
      )}
      {policy.JobACL !== null && (
        <p>
          Also applies to tasks of <Text of={tasksText(policy.JobACL)} />.
        </p>
      )}
      <section class="panel">
        <h2>What it grants</h2>
        {lines.length === 0 ? (
          <p class="hint">Nothing: it has no rules that this version of the server understands.</p>
        ) : (
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">For</th>
                  <th scope="col">Name or pattern</th>
                  <th scope="col">Grants</th>
                </tr>
              </thead>
              <tbody>
                {lines.map(({ kind, name, word, capabilities }, at) => (
                  <tr key={at}>
                    <td class="kind">
                      <Text of={kind} />
                    </td>
                    <td>
                      <code>
                        <Text of={name} />
                      </code>
                    </td>
                    <td>
                      {word !== '' && (
                        <>
                          <strong>{word}</strong>{' '}
                        </>
                      )}
                      <Text of={capabilities.join(', ')} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        <p class="hint">
          Of several rules that match a name, the closest applies; deny takes everything else away. What no rule grants
          is refused.{' '}
          {isManagement() && (
            <Link to={addressOf(['access', 'try'], { policy: policy.Name })}>Try it against a call</Link>
          )}
        </p>
      </section>
      <section class="panel">
        <h2>
          Rules as written <Copy value={policy.Rules} what="the rules" />
        </h2>
        <pre>
          <Text of={policy.Rules} />
        </pre>
      </section>
    </>
  );
}

/** Who has the policy or the role, as part of a sentence; bounded, and empty when it cannot be read. */
async function holdersText(filter: string): Promise<string> {
  const found = await box.tokens.list({ filter, perPage: mostListed });
  return found.match(
    ({ value: { items, nextToken } }) =>
      items.length === 0
        ? 'No token has it directly.'
        : `${nextToken === '' ? '' : 'At least '}${counted(items.length, 'token')} ${items.length === 1 ? 'loses' : 'lose'} its rights.`,
    () => 'Who has it cannot be counted.',
  );
}

async function askPolicyRemoval(name: string): Promise<void> {
  const held = await holdersText(`${JSON.stringify(name)} in Policies`);
  const all = await box.roles.list({ perPage: mostListed });
  const having = all.isOk()
    ? all.value.value.items.filter(({ Policies: links }) => links.some(({ Name }) => Name === name))
    : [];
  ask({
    title: `Remove the policy ${name}`,
    body: (
      <>
        <p>{held}</p>
        {having.length > 0 && (
          <p>
            {counted(having.length, 'role')} {having.length === 1 ? 'has' : 'have'} it, too:{' '}
            <Text of={having.map(({ Name }) => Name).join(', ')} />
          </p>
        )}
        <p>
          The rights are gone at once. Tokens and roles keep the name: a new policy of this name applies to them again.
        </p>
      </>
    ),
    action: 'Remove',
    isDestructive: true,
    run: () => box.policies.remove(name),
    after: () => {
      announce(`The policy ${name} is removed`);
      navigate(policiesAddress);
    },
  });
}

interface RulesFieldProps {
  readonly rows: number;
  readonly value: string;
  readonly set: (rules: string) => void;
  readonly problems: readonly string[];
  readonly hint?: string;
  readonly lead?: string;
}

/** The rules of a policy, with their problems; the cursor goes to the first one that names its position. */
export function RulesField({ rows, value, set, problems, hint, lead }: RulesFieldProps) {
  const source = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const [position] = problems.flatMap((each) => faultPosition(each) ?? []);
    const area = source.current;
    if (position === undefined || area === null) return;
    area.focus();
    const at = offsetOf(value, position);
    area.setSelectionRange(at, at);
  }, [problems]);
  return (
    <>
      <Field id="rules" label="Rules" hint={hint}>
        <textarea
          id="rules"
          class="mono"
          ref={source}
          rows={rows}
          spellcheck={false}
          value={value}
          aria-describedby="rules-problems"
          aria-invalid={problems.length > 0}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </Field>
      <div id="rules-problems">
        <Problems of={problems} lead={lead} />
      </div>
    </>
  );
}

export const firstRules = `namespace "default" {
  policy = "read"
}
`;
const noJob: PolicyJob = { Namespace: '', JobID: '', Group: '', Task: '' };
const jobFields = [
  ['Namespace', 'Namespace of the job'],
  ['JobID', 'Job'],
  ['Group', 'Group'],
  ['Task', 'Task'],
] as const;

function PolicyForm({ policy }: { readonly policy?: Policy }) {
  const { values, set, problems, isBusy, isChanged, save } = useForm(() => ({
    name: policy?.Name ?? '',
    description: policy?.Description ?? '',
    rules: policy?.Rules ?? firstRules,
    job: policy?.JobACL ?? noJob,
    index: policy?.ModifyIndex ?? 0,
  }));
  // The read of the screen follows changes by others.
  const isOutdated = policy !== undefined && policy.ModifyIndex !== values.index;
  const { description, rules, job } = values;
  const name = values.name.trim();
  const hasJob = Object.values(job).some((part) => part !== '');
  const submit = (event: Event): Promise<void> =>
    save(
      event,
      () => box.policies.put(name, { description, rules, ...(hasJob ? { job } : {}) }),
      () => show(`policy ${name}`, ['policies', name], policy === undefined),
    );
  return (
    <form class="panel form" onSubmit={(event) => void submit(event)} noValidate>
      {isOutdated && (
        <div class="notice waiting" role="alert">
          <p>Somebody has changed the policy since you began. Saving replaces these rules:</p>
          <pre>
            <Text of={policy.Rules} />
          </pre>
          <button type="button" onClick={() => set({ index: policy.ModifyIndex })}>
            I have seen them
          </button>
        </div>
      )}
      {policy === undefined && (
        <TextField
          id="policy-name"
          label="Name"
          value={values.name}
          set={(written) => set({ name: written })}
          hint="Letters, digits and hyphens. A policy of this name that exists is replaced."
        />
      )}
      <TextField
        id="policy-description"
        label="Description"
        value={description}
        set={(written) => set({ description: written })}
      />
      <RulesField rows={16} value={rules} set={(written) => set({ rules: written })} problems={problems} />
      <details open={policy?.JobACL != null}>
        <summary>Tasks that have these rights by their own identity</summary>
        {jobFields.map(([member, label]) => (
          <TextField
            key={member}
            id={`policy-${member}`}
            label={label}
            value={job[member]}
            set={(part) => set({ job: { ...job, [member]: part } })}
          />
        ))}
      </details>
      <FormActions
        isNew={policy === undefined}
        isBusy={isBusy || isOutdated}
        isChanged={isChanged}
        list={policiesAddress}
      />
    </form>
  );
}

const roleColumns: readonly Column<Role>[] = [
  {
    key: 'name',
    title: 'Role',
    cell: ({ ID, Name }) => (
      <>
        <Link to={addressOf(['access', 'roles', ID])} data-row-link>
          <Text of={Name} />
        </Link>{' '}
        <Id of={ID} what="the role's ID" />
      </>
    ),
  },
  { key: 'description', title: 'Description', cell: ({ Description }) => <Text of={Description} /> },
  {
    key: 'policies',
    title: 'Policies',
    cell: ({ Policies: links }) => <Text of={links.map(({ Name }) => Name).join(', ')} />,
  },
];

function Roles() {
  const roles = useRead('roles', { waits: true, read: (how) => box.roles.list({ perPage: mostListed, ...how }) });
  return (
    <Screen title="Roles" beside={<NewLink to="new-role">New role</NewLink>}>
      <AccessTabs current="roles" />
      {!isManagement() && <p class="hint">Only the roles of your own token are listed.</p>}
      <List
        name="Roles"
        noun="role"
        reading={roles}
        columns={roleColumns}
        idOf={({ ID }) => ID}
        textOf={({ Name, Description }) => `${Name} ${Description}`}
        empty={<p>There are none. A role is a set of policies under one name, for several tokens.</p>}
      />
    </Screen>
  );
}

function RoleScreen({ id }: { readonly id: string }) {
  const role = useRead(`role:${id}`, { waits: true, read: (how) => box.roles.read(id, how) });
  const isEditing = place.value.query.get('edit') === '1' && isManagement();
  const known = role.state.value.value;
  return (
    <Screen
      title={known?.Name ?? 'Role'}
      crumbs={[{ label: 'Roles', to: rolesAddress }]}
      beside={known !== undefined && !isEditing && <Actions remove={() => void askRoleRemoval(known)} />}
    >
      <View
        reading={role}
        what="the role"
        needs="a management token, or that your own token has it"
        gone={<Link to={rolesAddress}>All roles</Link>}
      >
        {(value) =>
          isEditing ? (
            <RoleForm role={value} />
          ) : (
            <section class="panel">
              <Facts
                of={[
                  ['ID', <Id of={value.ID} what="the role's ID" />],
                  ['Description', <Text of={value.Description} />],
                  ['Policies', <PolicyLinks names={value.Policies.map(({ Name }) => Name)} />],
                ]}
              />
            </section>
          )
        }
      </View>
    </Screen>
  );
}

async function askRoleRemoval({ ID, Name }: Role): Promise<void> {
  const held = await holdersText(`any Roles as role { role.ID == ${JSON.stringify(ID)} }`);
  ask({
    title: `Remove the role ${Name}`,
    body: (
      <>
        <p>{held}</p>
        <p>The policies of the role stay.</p>
      </>
    ),
    action: 'Remove',
    isDestructive: true,
    run: () => box.roles.remove(ID),
    after: () => {
      announce(`The role ${Name} is removed`);
      navigate(rolesAddress);
    },
  });
}

function RoleForm({ role }: { readonly role?: Role }) {
  const { values, set, problems, isBusy, isChanged, save } = useForm(() => ({
    name: role?.Name ?? '',
    description: role?.Description ?? '',
    policies: (role?.Policies ?? []).map(({ Name }) => Name) as readonly string[],
  }));
  const policies = usePolicies();
  const content = { ...values, policies: values.policies.map((name) => ({ name })) };
  const submit = (event: Event): Promise<void> =>
    save(
      event,
      () => (role === undefined ? box.roles.create(content) : box.roles.update(role.ID, content)),
      ({ value }) => show(`role ${value.Name}`, ['roles', value.ID], role === undefined),
    );
  return (
    <form class="panel form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        id="role-name"
        label="Name"
        value={values.name}
        set={(name) => set({ name })}
        hint="Letters, digits and hyphens."
      />
      <TextField
        id="role-description"
        label="Description"
        value={values.description}
        set={(description) => set({ description })}
      />
      <Choices
        title="Policies"
        reading={policies}
        chosen={values.policies}
        set={(chosen) => set({ policies: chosen })}
      />
      <Problems of={problems} />
      <FormActions isNew={role === undefined} isBusy={isBusy} isChanged={isChanged} list={rolesAddress} />
    </form>
  );
}
