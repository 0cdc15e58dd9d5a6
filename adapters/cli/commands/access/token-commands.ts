import { orThrow } from '../../../../src/client/index.js';
import type { TokenDocument } from '../../../../src/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import { facts, tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { durationOption, namedOnce, optional, pairs } from '../option-values.js';
import { confirm, print } from '../print.js';

const list = command({
  usage: 'token list',
  summary: 'list the tokens, without their secrets',
  run: async (invocation) => {
    const { value } = await orThrow(invocation.box.tokens.list());
    const tokens = 'items' in value ? value.items : value;
    const rows = tokens.map(({ Name, Type, AccessorID }) => [Name, Type, AccessorID]);
    return print(invocation, tokens, () => tableOf(['Name', 'Type', 'Accessor'], rows, 'no tokens'));
  },
});

const show = command({
  usage: 'token show [ACCESSOR]',
  summary: "a token: that of this command's caller when none is named",
  run: async (invocation, accessor) => {
    const { box } = invocation;
    const read = accessor === undefined ? box.tokens.self() : box.tokens.read(accessor);
    return print(
      invocation,
      await existing(read, accessor === undefined ? 'own token' : `token ${accessor}`),
      tokenText,
    );
  },
});

function tokenText(token: TokenDocument): string {
  return facts({
    Accessor: token.AccessorID,
    Secret: token.SecretID,
    Name: token.Name,
    Type: token.Type,
    Policies: (token.Policies ?? []).join(','),
    Roles: (token.Roles ?? []).map(({ Name }) => Name).join(','),
    Created: token.CreateTime,
    Expires: token.ExpirationTime ?? undefined,
    ...nodeFacts(token),
  });
}

const granted = {
  policy: option.list('POLICY', 'a policy of a client token, may be repeated'),
  role: option.list('ROLE', 'a role of a client token, by name, may be repeated'),
  workspace: option.list('ID=RIGHT', 'a right, admin or events, on a workspace; may be repeated'),
} as const;

interface Granted {
  readonly policy: readonly string[];
  readonly role: readonly string[];
  readonly workspace: readonly string[];
}

/** The rights of the options; members without an option are absent. */
function grantedBy({ policy, role, workspace }: Granted) {
  return {
    ...(policy.length === 0 ? {} : { policies: policy }),
    ...(role.length === 0 ? {} : { roles: role.map((name) => ({ name })) }),
    ...(workspace.length === 0 ? {} : { workspaces: pairs('workspace', workspace) }),
  };
}

const create = command({
  usage: 'token create [NAME]',
  summary: 'create a token; its secret is shown once',
  options: {
    type: option.text('TYPE', 'type of the token (client)', ['client', 'management', 'node']),
    ...granted,
    name: option.text('NAME', 'name of the token, the same as NAME'),
    ttl: option.text('TIME', 'lifetime of the token, 1m to 24h; unlimited when absent'),
    'node-id': option.text('UUID', 'the node of a node token (the first new node that uses it)'),
    'node-pool': option.text('POOL', 'the pool of the node of a node token (default)'),
  },
  run: async (invocation, name) => {
    const { box, options } = invocation;
    const { value } = await orThrow(
      box.tokens.create({
        name: namedOnce('name', name, options.name) ?? '',
        type: options.type ?? 'client',
        ...grantedBy(options),
        ...(options.ttl === undefined ? {} : { lifetime: durationOption('ttl', options.ttl) }),
        ...(options['node-id'] === undefined ? {} : { nodeId: options['node-id'] }),
        ...(options['node-pool'] === undefined ? {} : { nodePool: options['node-pool'] }),
      }),
    );
    return print(invocation, value, (token) =>
      facts({
        Accessor: token?.AccessorID,
        Secret: token?.SecretID,
        Name: token?.Name,
        Type: token?.Type,
        ...nodeFacts(token),
      }),
    );
  },
});

function nodeFacts(token: TokenDocument | undefined) {
  if (token?.NodePool === undefined) return {};
  return { Node: token.NodeID ?? 'the first new node that uses it', 'Node pool': token.NodePool };
}

const update = command({
  usage: 'token update ACCESSOR',
  summary: 'change the name or the rights of a token; what no option names is left unchanged',
  options: {
    ...granted,
    name: option.text('NAME', 'new name'),
    type: option.text('TYPE', 'new type; a management token loses policies and roles', ['client', 'management']),
  },
  run: async (invocation, accessor = '') => {
    const { box, options } = invocation;
    if (Object.keys(grantedBy(options)).length === 0 && options.name === undefined && options.type === undefined) {
      throw new Stopped('nothing to change: give --name, --type, --policy, --role or --workspace', 2);
    }
    const before = await existing(box.tokens.read(accessor), `token ${accessor}`);
    const type = options.type ?? before.Type;
    const { value } = await orThrow(
      box.tokens.update(accessor, {
        ...fixedParts(before),
        ...(type === 'management' ? {} : grantsOf(before)),
        ...grantedBy(options),
        name: options.name ?? before.Name,
        type,
      }),
    );
    return print(invocation, value, tokenText);
  },
});

/** The unchangeable members, which an update must repeat. */
function fixedParts({ Global, ExpirationTTL, ExpirationTime, NodeID, NodePool }: TokenDocument) {
  return {
    global: Global,
    ...(ExpirationTTL === '' ? {} : { lifetime: durationOption('ttl', ExpirationTTL) }),
    ...(ExpirationTime === null ? {} : { expiresAt: Date.parse(ExpirationTime) }),
    ...optional('nodeId', NodeID),
    ...optional('nodePool', NodePool),
  };
}

function grantsOf({ Policies, Roles, Workspaces }: TokenDocument) {
  return {
    policies: Policies ?? [],
    roles: (Roles ?? []).map(({ ID }) => ({ id: ID })),
    ...optional('workspaces', Workspaces),
  };
}

const remove = command({
  usage: 'token delete ACCESSOR',
  summary: 'delete a token; it stops working immediately',
  run: (invocation, accessor = '') =>
    confirm(invocation, invocation.box.tokens.remove(accessor), `token ${accessor} is removed`),
});

export const tokenCommands: readonly Command[] = [list, show, create, update, remove];
