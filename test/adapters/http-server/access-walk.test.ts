import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createHttpHandler,
  type HttpHandler,
  nodeListener,
  requestFrom,
  upgradeListener,
} from '../../../adapters/compat/index.js';
import { nomadRoutes } from '../../../adapters/compat/nomad.js';
import { discoveryRoute } from '../../../adapters/compat/terraform.js';
import { routeTable, workspacePageRoute } from '../../../adapters/http-server/calls/route-table.js';
import type { Route } from '../../../adapters/http-server/calls/router.js';
import type { CallAccess } from '../../../src/access/allows.js';
import { namespaceCapabilities } from '../../../src/access/capability.js';
import { areas } from '../../../src/access/policy/parse-policy.js';
import { tokens } from '../../../src/access/tokens.js';
import type { CallInput } from '../../../src/api/answers.js';
import { callsOf, type NamedCall } from '../../../src/api/index.js';
import type { MessageSocket } from '../../../src/api/message-socket.js';
import { type Engine, hostPrincipal, type Principal, type WorkspaceRight } from '../../../src/index.js';
import { putPolicy } from '../../../src/operations/access/policies.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { filledEngine } from './engine-under-test.js';
import { bodyFor, pathValues, targetFor } from './route-samples.js';

/*
 * Every route of the handler is called with no token, a token of another namespace and workspace, an expired one that had every right, and
 * with tokens that have one right each that the call does not name. What is expected follows from the access that the call declares. Calls
 * that everybody may make, and those that decide by what the caller may see, are listed here by name: a new one fails until it is listed.
 *
 * The same callers make the calls in process, as clients of `engine.as` do and as adapters do: there no server has refused them before.
 */

type Caller = 'nobody' | 'foreign' | 'expired' | Right;

/** One right, as the policy that grants it, and whether a call with this access names it. */
interface Right {
  readonly title: string;
  readonly rules: string;
  readonly workspaces?: Readonly<Record<string, WorkspaceRight>>;
  readonly isNamedBy: (access: CallAccess) => boolean;
}

const capabilities = namespaceCapabilities
  .filter((capability) => capability !== 'deny')
  .map(
    (capability): Right => ({
      title: capability,
      rules: `namespace "default" { capabilities = ["${capability}"] }`,
      isNamedBy: (access) => access.type === 'namespace' && access.anyOf.includes(capability),
    }),
  );
const rights: readonly Right[] = [
  ...capabilities,
  ...areas.map(
    (area): Right => ({
      title: area,
      rules: `${area} { policy = "${area === 'plugin' ? 'read' : 'write'}" }`,
      isNamedBy: (access) => access.type === 'area' && access.area === area,
    }),
  ),
  {
    title: 'node pools',
    rules: 'node_pool "*" { policy = "write" }',
    isNamedBy: ({ type }) => type === 'node_pools',
  },
  {
    title: 'variables',
    rules:
      'namespace "default" {\n variables {\n path "*" {\n capabilities = ["write", "read", "list", "destroy"]\n }\n }\n }',
    isNamedBy: ({ type }) => type === 'variables',
  },
  {
    title: 'events',
    rules: '',
    workspaces: { 'ws-1': 'events' },
    isNamedBy: (access) => access.type === 'workspace' && ['events', 'any'].includes(access.right),
  },
  {
    title: 'portal',
    rules: '',
    workspaces: { 'ws-1': 'portal' },
    isNamedBy: (access) => access.type === 'workspace' && ['portal', 'any'].includes(access.right),
  },
];

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly changed: boolean;
}
/** Throws when the answer is not the expected one. */
type Expectation = (answer: Answer, caller: Caller, route: Route) => void;

const refused: Expectation = ({ status, text, changed }, caller, { interface: of, socket }) => {
  expect(changed).toBe(false);
  if (of === 'notifications') {
    expect(status).toBe(caller === 'nobody' || caller === 'expired' ? 401 : 404);
  } else if (socket === undefined || caller === 'expired') {
    expect(status).toBe(403);
    expect(text).toMatch(/^Permission denied(: |$)/);
  } else {
    // The socket itself is walked below.
    expect(text).toBe('this path opens a WebSocket: send an upgrade request');
  }
};

const answered: Expectation = ({ status }) => expect([200, 204, 302]).toContain(status);
const answers =
  (text: RegExp): Expectation =>
  (answer) =>
    expect(answer).toEqual({ status: 200, changed: false, text: expect.stringMatching(text) });
const empty = answers(/^\[\]$/);
const asIfAbsent: Expectation = ({ status, text, changed }) => {
  expect(changed).toBe(false);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).toMatch(/^Unknown allocation "/);
};

/**
 * Expired tokens are refused by calls that need no right, too. Callers with one of the rights are answered; the others get `otherwise`.
 */
const shown =
  (otherwise: Expectation, ...titles: readonly string[]): Expectation =>
  (answer, caller, route) => {
    if (caller === 'expired') return refused(answer, caller, route);
    const sees = typeof caller === 'object' && titles.includes(caller.title);
    return (sees ? answered : otherwise)(answer, caller, route);
  };
/** For every token, and for nobody without one. */
const forTokens: Expectation = (answer, caller, route) =>
  (caller === 'nobody' || caller === 'expired' ? refused : answered)(answer, caller, route);

const inNamespace = capabilities.map(({ title }) => title);

/** Calls that need no credentials. */
const forEverybody: Readonly<Record<string, Expectation>> = {
  // The secret in the body is the credential: that of `ada`, and valid once.
  'tokens.exchangeOneTime': ({ status, text }) =>
    status === 200
      ? expect(text).toContain('"Name":"ada"')
      : expect([status, text]).toEqual([403, expect.stringMatching(/^Permission denied(: |$)/)]),
  'tokens.bootstrap': ({ status, text, changed }) =>
    expect([status, text, changed]).toEqual([403, expect.stringMatching(/does not create its first token/), false]),
  'notifications.ping': answered,
  'system.health': answered,
  'system.ready': answered,
  'system.agentHealth': answered,
  'system.metrics': answered,
  'system.leader': answered,
  'system.peers': answered,
  'system.regions': answered,
  openApi: answered,
  workspacePage: answered,
  serviceDiscovery: answered,
};

/** Calls that show every caller what it may see. */
const byWhatIsSeen: Readonly<Record<string, Expectation>> = {
  'allocations.read': shown(asIfAbsent, 'read-job'),
  'allocations.collect': shown(asIfAbsent, 'submit-job', 'gc-allocation'),
  'namespaces.list': shown(empty, ...inNamespace),
  'namespaces.read': shown(refused, ...inNamespace),
  'nodePools.list': shown(empty, 'node pools'),
  'policies.list': (answer, caller, route) =>
    typeof caller === 'object' && caller.rules !== ''
      ? answers(/^\[\{"Name":"right-\d+","Description":""[^{]*\}\]$/)(answer, caller, route)
      : shown(empty)(answer, caller, route),
  'policies.self': shown(answered),
  'roles.list': shown(empty),
  'scaling.policies': shown(refused, 'list-scaling-policies'),
  'search.fuzzy': shown(
    answers(/"Matches":\{("\w+":\[\])?\}/),
    'list-jobs',
    'read-job',
    'list-scaling-policies',
    'node',
    'node pools',
  ),
  'tokens.createOneTime': forTokens,
  'tokens.read': shown(refused),
  'tokens.self': shown(answered),
  'tokens.rights': shown(answered),
  'organizations.list': forTokens,
  'notifications.search': forTokens,
  'account.show': forTokens,
  'policies.read': shown(refused),
  'roles.read': shown(refused),
  'roles.readNamed': shown(refused),
  'cluster.events': shown(refused),
  'volumes.list': shown(empty),
  'plugins.list': shown(empty),
};

/** Calls whose rights decide what is in the answer instead of whether there is one. */
const emptyWithoutRight: Readonly<Record<string, Expectation>> = {
  'jobs.statusesOf': (answer, caller, route) => (answer.status === 403 ? refused : shown(empty))(answer, caller, route),
  'variables.list': shown(empty),
  // The types of a server are the same for all its workspaces.
  'eventTypes.list': (answer, caller, route) => (caller === 'foreign' ? answered : refused)(answer, caller, route),
  'eventTypes.show': (answer, caller, route) => (caller === 'foreign' ? answered : refused)(answer, caller, route),
};

function expectationOf(route: Route): Expectation | undefined {
  const { access, name } = route;
  if (access.type === 'public') return forEverybody[name];
  if (access.type === 'any') return byWhatIsSeen[name];
  return emptyWithoutRight[name] ?? refused;
}

type Names = 'neutral' | 'upstream';

let engine: Engine;
let handlers: Readonly<Record<Names, HttpHandler>>;
beforeAll(async () => {
  engine = await filledEngine();
  const handler = (names: Names) => createHttpHandler(engine, { access: 'token', names });
  handlers = { neutral: handler('neutral'), upstream: handler('upstream') };
  (
    await putToken(engine, hostPrincipal, {
      secret: 'foreign',
      name: 'foreign',
      namespaces: { other: { capabilities: [], policy: 'write' } },
      workspaces: { 'ws-other': 'admin' },
    })
  )._unsafeUnwrap();
  const { token } = (
    await putToken(engine, hostPrincipal, { secret: 'expired', name: 'expired', management: true })
  )._unsafeUnwrap();
  await engine.storage.write((view) => {
    const row = view.get(tokens, [token.accessor]);
    if (row !== undefined) view.put(tokens, { ...row.record, expiresAt: engine.clock.now() - 1 });
    return ok(undefined);
  });
  for (const [number, { title, rules, workspaces }] of rights.entries()) {
    const name = `right-${number}`;
    if (rules !== '') {
      const policy = { name, rules };
      (await putPolicy(engine, hostPrincipal, policy))
        .mapErr((error) => new Error(JSON.stringify(error)))
        ._unsafeUnwrap();
    }
    if (workspaces === undefined) {
      const made = await saveToken(engine, hostPrincipal, { name, type: 'client', policies: [name] });
      secrets.set(title, made._unsafeUnwrap().SecretID);
    } else {
      const made = await putToken(engine, hostPrincipal, { name, workspaces });
      secrets.set(title, made._unsafeUnwrap().secret);
    }
  }
});
/** By the title of the right. */
const secrets = new Map<string, string>();

const indexOf = async (): Promise<number> => (await engine.storage.read((view) => view.index))._unsafeUnwrap();

async function ask(route: Route, secret: string | undefined, names: Names): Promise<Answer> {
  const body = bodyFor(route);
  const headers: Record<string, string> = secret === undefined ? {} : { 'x-svc-token': secret };
  const before = await indexOf();
  const request = { method: route.methods[0], target: targetFor(route), headers };
  const response = await handlers[names](requestFrom({ ...request, ...(body === undefined ? {} : { body }) }));
  const isWhole = typeof response.body === 'string' || response.body instanceof Uint8Array;
  const text = isWhole ? String(response.body) : '';
  return { status: response.status, text, changed: (await indexOf()) !== before };
}

const neutral = [...routeTable, workspacePageRoute];
const further = [workspacePageRoute, discoveryRoute, ...nomadRoutes];
const rows = callsOf();

/** The inputs of the sample request of a call, as the handler passes them on. */
async function inputsOf(engine: Engine): Promise<ReadonlyMap<string, CallInput>> {
  const inputs = new Map<string, CallInput>();
  const perform: Engine['perform'] = ({ area, method }, _, input) => {
    inputs.set(`${area}.${method}`, input);
    return errAsync({ type: 'permission_denied' });
  };
  const handler = createHttpHandler({ ...engine, perform }, { authenticate: () => hostPrincipal });
  for (const route of routeTable) {
    const [body, target] = [bodyFor(route), targetFor(route)];
    const request = requestFrom({
      method: route.methods[0],
      target,
      headers: {},
      ...(body === undefined ? {} : { body }),
    });
    if (route.socket === undefined) await handler(request);
  }
  const { allocation_id: allocationId, node_id: nodeId } = pathValues;
  inputs.set('jobs.runAction', { jobId: 'job', allocationId, task: 't', action: 'a' });
  inputs.set('allocations.exec', { allocationId, task: 't', command: '["true"]' });
  inputs.set('agents.commands', { nodeId });
  inputs.set('tokens.bootstrap', {});
  return inputs;
}

type Made = Result<unknown, { readonly type: string; readonly message?: string }>;
type Make = (engine: Engine, row: NamedCall, caller: Principal, input: CallInput) => PromiseLike<Made>;

/** As a client in the process: a stream that cannot begin throws, and a refused socket is closed. */
const asClient: Make = async (of, { area, method, call }, caller, input) => {
  const methods = of.as(caller) as unknown as Readonly<
    Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>
  >;
  const options = Object.fromEntries(Object.entries(input).filter(([name]) => !call.args.includes(name)));
  const made = methods[area]?.[method]?.(...call.args.map((name) => input[name]), options);
  if (call.kind === 'stream') {
    const items = (made as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    return ResultAsync.fromPromise(
      items.next().finally(() => void items.return?.()),
      (error) => error as { type: string },
    );
  }
  const result = await (made as PromiseLike<Made>);
  if (call.kind !== 'socket' || result.isErr()) return result;
  const { code, reason } = await (result.value as MessageSocket).closed;
  return code === 1000
    ? ok(undefined)
    : err({ type: /^Permission denied/.test(reason) ? 'permission_denied' : reason });
};
/** As an adapter: nothing is checked before. */
const asAdapter: Make = async (of, row, caller, input) => {
  const gone = new AbortController();
  const made = await of.perform(row, caller, input, { waiting: {}, faults: [], signal: gone.signal });
  gone.abort();
  return made.map((value) => (row.call.kind === 'stream' ? undefined : row.call.answer.toClient(value, input)));
};

/** The answer over HTTP that the outcome would be. */
function answerOf(made: Made, { call }: NamedCall, caller: Caller): Pick<Answer, 'status' | 'text'> {
  if (made.isOk()) {
    const { value = made.value } = (made.value ?? {}) as { readonly value?: unknown };
    const { items = value } = (value ?? {}) as { readonly items?: unknown };
    return { status: 200, text: JSON.stringify(items) ?? '' };
  }
  const { type, message = type } = made.error;
  const isHidden = type === 'permission_denied' || type === 'not_found';
  if (!isHidden) return { status: 404, text: message };
  const status = call.interface === 'notifications' ? (caller === 'nobody' ? 401 : 404) : 403;
  return { status, text: 'Permission denied' };
}

describe('who may call', () => {
  it('is stated for every route, and for no others', () => {
    const listed = [...Object.keys(forEverybody), ...Object.keys(byWhatIsSeen), ...Object.keys(emptyWithoutRight)];
    const routes = [...routeTable, ...further];
    expect(routes.filter((route) => expectationOf(route) === undefined).map(({ name }) => name)).toEqual([]);
    expect(listed.filter((name) => !routes.some((route) => route.name === name))).toEqual([]);
  });

  it.each(neutral.map((route) => ({ name: route.name, route })))('$name', async ({ route }) => {
    const expected = expectationOf(route) ?? refused;
    expected(await ask(route, undefined, 'neutral'), 'nobody', route);
    expected(await ask(route, 'foreign', 'neutral'), 'foreign', route);
    expected(await ask(route, 'expired', 'neutral'), 'expired', route);
    for (const right of rights.filter(({ isNamedBy }) => !isNamedBy(route.access))) {
      try {
        expected(await ask(route, secrets.get(right.title), 'neutral'), right, route);
      } catch (error) {
        throw new Error(`${route.name} with the right ${right.title}`, { cause: error });
      }
    }
  });

  it.each(further.map((route) => ({ name: route.name, route })))(
    '$name, with the names of Nomad',
    async ({ route }) => {
      const expected = expectationOf(route) ?? refused;
      for (const caller of ['nobody', 'foreign', 'expired'] as const) {
        expected(await ask(route, caller === 'nobody' ? undefined : caller, 'upstream'), caller, route);
      }
    },
  );

  it.each(routeTable.filter((route) => expectationOf(route) === refused).map((route) => ({ name: route.name, route })))(
    '$name refuses with the names of Nomad, too',
    async ({ route }) => {
      for (const secret of [undefined, 'foreign', 'expired', secrets.get('quota')]) {
        const { status, text, changed } = await ask(route, secret, 'upstream');
        expect(changed).toBe(false);
        if (route.interface === 'notifications') expect([401, 404]).toContain(status);
        else expect(text).toMatch(/^Permission denied$|failed to parse signed token|^this path opens a WebSocket/);
      }
    },
  );
});

describe('who may call in process', () => {
  let inputs: ReadonlyMap<string, CallInput>;
  const principals = new Map<Caller, Principal>();
  beforeAll(async () => {
    inputs = await inputsOf(engine);
    const known = async (secret?: string) => (await engine.host.authenticate(secret))._unsafeUnwrap() as Principal;
    principals.set('nobody', await known()).set('foreign', await known('foreign'));
    for (const right of rights) principals.set(right, await known(secrets.get(right.title)));
  });

  /** Over HTTP they need credentials. In process callers without a token are shown what is theirs, too. */
  const ownOnly = ['organizations.list', 'notifications.search', 'account.show'];
  const closed = rows.filter(({ call }) => call.access.type !== 'public');
  const makers = [
    { how: 'as a client', make: asClient },
    { how: 'as an adapter', make: asAdapter },
  ];
  const cases = closed.flatMap((row) => makers.map((maker) => ({ ...maker, name: row.name, row })));
  it.each(cases)('$name $how', async ({ row, make }) => {
    const { socket: _, ...route } = routeTable.find(({ name }) => name === row.name) as Route;
    const expected = expectationOf(route) ?? refused;
    const input = inputs.get(row.name);
    if (input === undefined) throw new Error(`${row.name} has no sample request`);
    for (const [caller, principal] of principals) {
      if (typeof caller === 'object' && caller.isNamedBy(row.call.access)) continue;
      const before = await indexOf();
      const made = await make(engine, row, principal, input);
      try {
        const answer = { ...answerOf(made, row, caller), changed: (await indexOf()) !== before };
        expected(answer, caller === 'nobody' && ownOnly.includes(row.name) ? 'foreign' : caller, route);
      } catch (error) {
        const title = typeof caller === 'object' ? `the right ${caller.title}` : caller;
        throw new Error(`${row.name} by ${title}: ${JSON.stringify(made)}`, { cause: error });
      }
    }
  });

  // A one-time token is one of the caller's token, and the host has none.
  const forHost = closed.filter(({ name }) => name !== 'tokens.createOneTime').map((row) => ({ name: row.name, row }));
  it.each(forHost)('$name is answered with all rights', async ({ row }) => {
    const made = await asAdapter(await filledEngine(), row, hostPrincipal, inputs.get(row.name) ?? {});
    expect(
      made.match(
        () => 'answered',
        ({ type }) => type,
      ),
    ).not.toBe('permission_denied');
  });

  it.each(closed.map((row) => ({ name: row.name, row })))(
    '$name refuses the agent of another node',
    async ({ row }) => {
      const agent: Principal = { ...hostPrincipal, accessor: 'agent', node: { id: 'another', pool: 'default' } };
      const made = await asAdapter(engine, row, agent, inputs.get(row.name) ?? {});
      // Whose node it is the registration finds in the store.
      const refusal = row.name === 'agents.register' ? 'claim_refused' : 'permission_denied';
      expect(made._unsafeUnwrapErr().type).toBe(refusal);
    },
  );

  it('is checked by inputs that the call has', () => {
    const needed = { node: 'nodeId', node_pools: 'name' } as const;
    for (const { name, call } of closed) {
      const { access, inputs: declared } = call;
      if ('checkedBy' in access) continue;
      if (access.type === 'namespace') expect(declared, name).toHaveProperty('namespace');
      const input = needed[access.type as keyof typeof needed];
      if (input !== undefined) expect(declared[input], name).toMatchObject({ required: true });
    }
  });
});

describe('who may open a socket', () => {
  const server = createServer();
  beforeAll(async () => {
    const handler = createHttpHandler(engine, { access: 'token' });
    server.on('request', nodeListener(handler)).on('upgrade', upgradeListener(handler));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it.each(routeTable.filter(({ socket }) => socket !== undefined).map((route) => ({ name: route.name, route })))(
    '$name',
    async ({ route }) => {
      const origin = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const open = (secret: string | undefined): Promise<{ readonly heard: number; readonly code: number }> =>
        new Promise((resolve) => {
          let heard = 0;
          const headers = secret === undefined ? {} : { 'x-svc-token': secret };
          new WebSocket(origin + targetFor(route), { headers })
            .on('message', () => (heard += 1))
            .on('error', () => undefined)
            .on('close', (code) => resolve({ heard, code }));
        });
      const before = await indexOf();
      const unrelated = rights.filter(({ isNamedBy }) => !isNamedBy(route.access)).map(({ title }) => title);
      for (const title of ['nobody', 'foreign', 'expired', ...unrelated]) {
        const secret = title === 'nobody' ? undefined : (secrets.get(title) ?? title);
        const { heard, code } = await open(secret);
        expect(heard, title).toBe(0);
        // An end that is an error, as the caller sees it.
        expect(code, title).toBeGreaterThanOrEqual(1002);
      }
      expect(await indexOf()).toBe(before);
    },
  );
});
