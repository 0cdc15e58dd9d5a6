import { okAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { box } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { guardLeaving, Link, navigate } from '../../app/router.js';
import { Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { kindNames } from '../../rules/notification-words.js';
import { faultsOf, type Outcome, OutcomePanel } from './actions.js';
import { type FormValues, inputOf, valuesOf } from './form-values.js';
import { alertTypes, fieldOfPointer, triggers } from './requests.js';
import { type Configuration, mayAdminister, type Room, roomAddress, useEventTypes } from './room.js';

/** What was written and not saved, by workspace and configuration: in memory only, as long as the tab. */
const drafts = new Map<string, FormValues>();

interface FormProps {
  readonly room: Room;
  /** The configuration that is changed; a new one when absent. */
  readonly configuration?: Configuration;
}

export function ConfigurationForm({ room, configuration }: FormProps) {
  const key = `${room.workspace}/${configuration?.id ?? ''}`;
  // What the form began with: a change by others meanwhile is not undone by fields that were left as they were.
  const [before] = useState(() => valuesOf(configuration));
  const [values, setValues] = useState(() => drafts.get(key) ?? before);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const isChanged = JSON.stringify(values) !== JSON.stringify(before);
  useEffect(() => {
    // A browser may not let a frame ask; what was written is kept in any case.
    guardLeaving(
      isChanged && !room.isPortal
        ? () => confirm('Leave the page? What you have written stays until this tab is closed.')
        : undefined,
    );
    return () => guardLeaving(undefined);
  }, [isChanged]);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);

  const set = (changes: Partial<FormValues>): void => {
    const next = { ...values, ...changes };
    drafts.set(key, next);
    setValues(next);
  };
  const discard = (): void => {
    drafts.delete(key);
    guardLeaving(undefined);
    navigate(roomAddress(room, configuration === undefined ? [] : ['c', configuration.id]));
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { input, problems: seen } = inputOf(values, configuration === undefined ? undefined : before);
    setOutcome(undefined);
    setProblems(seen);
    if (Object.keys(seen).length > 0) return;
    setBusy(true);
    const saved = await (configuration === undefined
      ? box.notifications.create(room.workspace, input)
      : box.notifications.update(configuration.id, input));
    setBusy(false);
    saved.match(
      ({ id }) => {
        drafts.delete(key);
        guardLeaving(undefined);
        announce(configuration === undefined ? 'The configuration is created' : 'The changes are saved');
        navigate(roomAddress(room, ['c', id]));
      },
      (error) => {
        const faults = faultsOf(error);
        const atFields = faults.flatMap(({ pointer, message }) => {
          const field = fieldOfPointer(pointer);
          return field === undefined ? [] : [[field, message] as const];
        });
        setProblems(Object.fromEntries(atFields));
        if (atFields.length < faults.length || faults.length === 0) setOutcome({ failed: 'Nothing was saved.', error });
        else
          setOutcome({
            failed: 'Nothing was saved.',
            error: { type: 'invalid', ...{ message: 'See the marked fields.' } },
          });
      },
    );
  };
  const fields = { values, set, problems };
  const isMail = values.kind === 'email';
  return (
    <form class="panel form" ref={form} onSubmit={(event) => void save(event)} noValidate>
      {configuration === undefined && <KindField {...fields} />}
      <TextField {...fields} name="name" label="Name" />
      {isMail ? (
        <Recipients {...fields} room={room} />
      ) : (
        <TextField
          {...fields}
          name="url"
          label="URL"
          hint={
            values.kind === 'generic'
              ? 'Gets a signed POST with JSON.'
              : 'The address of the incoming webhook of the chat service.'
          }
        />
      )}
      {values.kind === 'generic' && <TokenFields {...fields} isNew={configuration === undefined} />}
      <TriggerFields {...fields} />
      <details open={hasOptions(values, problems)}>
        <summary>Delivery options</summary>
        <OptionFields {...fields} configuration={configuration} isMail={isMail} />
      </details>
      <div class="field">
        <label>
          <input
            type="checkbox"
            checked={values.enabled}
            onChange={(event) => set({ enabled: event.currentTarget.checked })}
          />
          Enabled
        </label>
        <small>
          {isMail
            ? 'It is notified from now on. Verify sends a test mail.'
            : 'The destination must answer a verification request first; otherwise nothing is saved.'}
        </small>
        <Problem of="enabled" problems={problems} />
      </div>
      <OutcomePanel outcome={outcome} />
      <div class="actions">
        <button type="submit" class="primary" disabled={isBusy || (configuration !== undefined && !isChanged)}>
          {isBusy
            ? 'Saving…'
            : values.enabled && !before.enabled
              ? 'Verify and enable'
              : configuration === undefined
                ? 'Create'
                : 'Save'}
        </button>
        <button type="button" onClick={discard}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Whether the options are worth showing at once. */
function hasOptions(values: FormValues, problems: Readonly<Record<string, string>>): boolean {
  const { filter, eventTypes, rate, timeout, concurrency, headers } = values;
  const shown = [
    'rate',
    'timeout',
    'concurrency',
    'rotationGrace',
    'headers',
    'authentication',
    'clientCertificate',
    'filter',
    'eventTypes',
  ];
  return (
    [filter, eventTypes, rate, timeout, concurrency, headers].some((text) => text !== '') ||
    shown.some((name) => problems[name] !== undefined)
  );
}

interface Fields {
  readonly values: FormValues;
  readonly set: (changes: Partial<FormValues>) => void;
  readonly problems: Readonly<Record<string, string>>;
}

function Problem({ of, problems }: { readonly of: string; readonly problems: Fields['problems'] }) {
  const problem = problems[of];
  return problem === undefined ? null : (
    <p class="error" id={`problem-${of}`} role="alert">
      <Text of={problem} />
    </p>
  );
}

type TextName = {
  [N in keyof FormValues]: FormValues[N] extends string ? (string extends FormValues[N] ? N : never) : never;
}[keyof FormValues];

interface TextFieldProps extends Fields {
  readonly name: TextName;
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  /** The name under which problems are reported; that of the field when absent. */
  readonly problem?: string;
  readonly rows?: number;
  readonly isSecret?: boolean;
  readonly isNumber?: boolean;
}

function TextField({
  values,
  set,
  problems,
  name,
  label,
  hint,
  problem = name,
  rows,
  isSecret,
  isNumber,
}: TextFieldProps) {
  const common = {
    id: `field-${name}`,
    value: values[name],
    autocomplete: isSecret === true ? ('new-password' as const) : ('off' as const),
    spellcheck: false,
    'aria-invalid': problems[problem] !== undefined,
    'aria-describedby':
      [
        ...(hint === undefined ? [] : [`hint-${name}`]),
        ...(problems[problem] === undefined ? [] : [`problem-${problem}`]),
      ].join(' ') || undefined,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      set({ [name]: event.currentTarget.value }),
  };
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      {rows !== undefined ? (
        <textarea {...common} rows={rows} />
      ) : isSecret === true ? (
        <input {...common} type="password" />
      ) : (
        <input {...common} type="text" inputMode={isNumber === true ? 'decimal' : 'text'} />
      )}
      {hint !== undefined && <small id={`hint-${name}`}>{hint}</small>}
      <Problem of={problem} problems={problems} />
    </div>
  );
}

const kinds = ['generic', 'chat-a', 'chat-b', 'email'] as const;

function KindField({ values, set, problems }: Fields) {
  return (
    <fieldset class="field">
      <legend class="label">Kind</legend>
      <div class="chips">
        {kinds.map((kind) => (
          <label key={kind}>
            <input
              type="radio"
              name="kind"
              value={kind}
              checked={values.kind === kind}
              aria-invalid={problems['kind'] !== undefined}
              onChange={() => set({ kind })}
            />
            {kindNames[kind]}
          </label>
        ))}
      </div>
      <Problem of="kind" problems={problems} />
    </fieldset>
  );
}

function TokenFields({ isNew, ...fields }: Fields & { readonly isNew: boolean }) {
  const { values, set } = fields;
  return (
    <>
      <TextField
        {...fields}
        name="token"
        label={isNew ? 'Signing token' : 'New signing token'}
        isSecret
        hint={
          isNew
            ? 'Signs each request, so that the receiver can check where it comes from. It is not shown again.'
            : 'Empty keeps the present one. A replaced token signs for a while longer.'
        }
      />
      {!isNew && (
        <div class="field">
          <label>
            <input
              type="checkbox"
              checked={values.removesToken}
              onChange={(event) => set({ removesToken: event.currentTarget.checked })}
            />
            Remove the token: requests are no longer signed
          </label>
        </div>
      )}
    </>
  );
}

const scopes = [
  ['run', 'Runs'],
  ['assessment', 'Health assessments'],
  ['workspace', 'Workspace'],
] as const;

function TriggerFields(fields: Fields) {
  const { values, set, problems } = fields;
  const types = useEventTypes().state.value.value ?? [];
  const known = [...types.map(({ name }) => name), ...alertTypes];
  const toggle = (name: string, isOn: boolean): void =>
    set({ triggers: isOn ? [...values.triggers, name] : values.triggers.filter((each) => each !== name) });
  return (
    <>
      <fieldset class="field">
        <legend class="label">Triggers</legend>
        {scopes.map(([scope, title]) => (
          <fieldset key={scope} class="chips">
            <legend>{title}</legend>
            {triggers
              .filter((trigger) => trigger.scope === scope)
              .map(({ value, aliases, displayName }) => {
                const names: readonly string[] = [value, ...aliases];
                const chosen = values.triggers.find((each) => names.includes(each));
                return (
                  <label key={value} title={value}>
                    <input
                      type="checkbox"
                      checked={chosen !== undefined}
                      aria-invalid={problems['triggers'] !== undefined}
                      onChange={(event) => toggle(chosen ?? value, event.currentTarget.checked)}
                    />
                    {displayName}
                  </label>
                );
              })}
          </fieldset>
        ))}
        <Problem of="triggers" problems={problems} />
      </fieldset>
      <TextField
        {...fields}
        name="eventTypes"
        label="Event types"
        hint={
          <>
            Names, or patterns such as <code>order.*</code>, separated by blanks. Known: <Text of={known.join(', ')} />
          </>
        }
      />
    </>
  );
}

function Recipients({ room, values, set, problems }: Fields & { readonly room: Room }) {
  const maySee = mayAdminister(room);
  const [asked, setAsked] = useState('');
  const members = useRead(`members:${room.workspace}:${asked}`, {
    read: ({ signal }) =>
      maySee
        ? box.workspaces
            .show(room.workspace, { signal })
            .andThen(({ organization }) =>
              box.organizations.memberships(organization, {
                signal,
                pageSize: 100,
                ...(asked === '' ? {} : { search: asked }),
              }),
            )
            .map(({ items, pagination }) => ({ items, total: pagination.totalCount }))
        : okAsync({ items: [], total: 0 }),
  });
  const toggle = (id: string, isOn: boolean): void =>
    set({ users: isOn ? [...values.users, id] : values.users.filter((each) => each !== id) });
  const choice = (id: string, label: ComponentChildren) => (
    <li key={id}>
      <label>
        <input
          type="checkbox"
          checked={values.users.includes(id)}
          onChange={(event) => toggle(id, event.currentTarget.checked)}
        />
        {label}
      </label>
    </li>
  );
  return (
    <fieldset class="field">
      <legend class="label">Recipients</legend>
      {!maySee ? (
        <>
          <p class="hint">Who can be a recipient is not shown here. Present recipients can be removed.</p>
          <ul>{values.users.map((id) => choice(id, <Text of={id} />))}</ul>
        </>
      ) : (
        <>
          <input
            type="search"
            aria-label="Part of the name or the address"
            placeholder="Part of the name or the address"
            value={asked}
            onInput={(event) => setAsked(event.currentTarget.value)}
          />
          <View reading={members} what="the users of the organization" needs="admin on the workspace">
            {({ items, total }) => (
              <>
                {items.length === 0 && (
                  <p class="hint">
                    The organization has no such users. The host adds them with <code>users.put</code>.
                  </p>
                )}
                <ul class="choices">
                  {values.users
                    .filter((id) => !items.some((user) => user.id === id))
                    .map((id) => choice(id, <Text of={id} />))}
                  {items.map(({ id, username, email }) =>
                    choice(
                      id,
                      <>
                        <Text of={username} />{' '}
                        <small>
                          <Text of={email} />
                        </small>
                      </>,
                    ),
                  )}
                </ul>
                {total > items.length && (
                  <p class="hint">
                    The first {items.length} of {total} are shown.
                  </p>
                )}
              </>
            )}
          </View>
        </>
      )}
      <Problem of="users" problems={problems} />
    </fieldset>
  );
}

interface OptionProps extends Fields {
  readonly configuration: Configuration | undefined;
  readonly isMail: boolean;
}

function OptionFields({ configuration, isMail, ...fields }: OptionProps) {
  const { values, set, problems } = fields;
  const present = configuration?.delivery ?? null;
  return (
    <div class="stack">
      <TextField
        {...fields}
        name="filter"
        label="Filter"
        hint={
          <>
            Only events that match: <code>run_message contains "nightly"</code> or <code>data.country == "de"</code>.
            Empty accepts all.
          </>
        }
      />
      <div class="columns">
        <TextField
          {...fields}
          name="rate"
          label="Tries a second"
          hint="0: unlimited. Empty: as the server is set."
          isNumber
        />
        <TextField {...fields} name="timeout" label="Timeout in seconds" hint="Of a whole try." isNumber />
        <TextField
          {...fields}
          name="concurrency"
          label="Tries at a time"
          hint="Empty: as many as the destination bears."
          isNumber
        />
        {values.kind === 'generic' && (
          <TextField {...fields} name="rotationGrace" label="A replaced token signs for, in hours" isNumber />
        )}
      </div>
      {!isMail && (
        <>
          <TextField
            {...fields}
            name="headers"
            label={present !== null && present.headerNames.length > 0 ? 'New extra headers' : 'Extra headers'}
            rows={3}
            hint={
              <>
                One a line: <code>name: value</code>.
                {present !== null && present.headerNames.length > 0 && (
                  <>
                    {' '}
                    Set now: <Text of={present.headerNames.join(', ')} />. What is written here replaces all of them.
                  </>
                )}
              </>
            }
          />
          {present !== null && present.headerNames.length > 0 && (
            <label>
              <input
                type="checkbox"
                checked={values.removesHeaders}
                onChange={(event) => set({ removesHeaders: event.currentTarget.checked })}
              />
              Remove the extra headers
            </label>
          )}
          <AuthenticationFields {...fields} present={present?.authentication ?? null} />
          <TextField
            {...fields}
            name="certificate"
            problem="clientCertificate"
            label="Client certificate (PEM)"
            rows={3}
            hint="For destinations that ask for one."
          />
          <TextField {...fields} name="key" problem="clientCertificate" label="Its private key (PEM)" rows={3} />
          {present?.clientCertificate === true && (
            <label>
              <input
                type="checkbox"
                checked={values.removesCertificate}
                onChange={(event) => set({ removesCertificate: event.currentTarget.checked })}
              />
              Remove the client certificate
            </label>
          )}
        </>
      )}
      {problems['delivery'] !== undefined && <Problem of="delivery" problems={problems} />}
    </div>
  );
}

function AuthenticationFields({ present, ...fields }: Fields & { readonly present: 'basic' | 'bearer' | null }) {
  const { values, set, problems } = fields;
  const choices = [
    ...(present === null ? [] : [['keep', `as it is (${present})`] as const]),
    ['none', 'none'] as const,
    ['basic', 'user name and password'] as const,
    ['bearer', 'bearer token'] as const,
  ];
  return (
    <>
      <div class="field">
        <label for="field-authentication">Authentication</label>
        <select
          id="field-authentication"
          value={values.authentication}
          aria-invalid={problems['authentication'] !== undefined}
          onChange={(event) => {
            const chosen = choices.find(([name]) => name === event.currentTarget.value);
            if (chosen !== undefined) set({ authentication: chosen[0] });
          }}
        >
          {choices.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
        <Problem of="authentication" problems={problems} />
      </div>
      {values.authentication === 'basic' && (
        <>
          <TextField {...fields} name="username" label="User name" />
          <TextField {...fields} name="password" label="Password" isSecret />
        </>
      )}
      {values.authentication === 'bearer' && <TextField {...fields} name="bearer" label="Bearer token" isSecret />}
    </>
  );
}

/** A link to the form of a configuration, for a field that is to be changed. */
export function EditLink({
  room,
  id,
  children,
}: {
  readonly room: Room;
  readonly id: string;
  readonly children: ComponentChildren;
}) {
  return (
    <Link class="button" to={roomAddress(room, ['c', id, 'edit'])}>
      {children}
    </Link>
  );
}
