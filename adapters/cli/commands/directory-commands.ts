import { orThrow, SignalboxError } from '../../../src/client/index.js';
import type { Workspace } from '../../../src/index.js';
import { type Command, command, option, yesOrNo } from '../command-line/command.js';
import { facts, tableOf } from '../output/tables.js';
import { flagOption, optional } from './option-values.js';
import { confirm, print } from './print.js';

const list = command({
  usage: 'workspace list ORGANIZATION',
  summary: 'list the workspaces of an organization',
  run: async (invocation, organization = '') => {
    const { items } = await orThrow(invocation.box.workspaces.list(organization));
    const rows = items.map(({ id, name, executionMode }) => [id, name, executionMode]);
    return print(invocation, items, () => tableOf(['ID', 'Name', 'Execution mode'], rows, 'no workspaces'));
  },
});

const show = command({
  usage: 'workspace show WORKSPACE',
  summary: 'show a workspace',
  run: async (invocation, given = '') => {
    const workspace = await orThrow(invocation.box.workspaces.show(given));
    return print(invocation, workspace, (shown) =>
      facts({
        ID: shown.id,
        Name: shown.name,
        Organization: shown.organization,
        'Execution mode': shown.executionMode,
        'Drift detection': shown.driftDetection,
        'Health assessments': shown.healthAssessments,
        URL: shown.url ?? undefined,
      }),
    );
  },
});

const put = command({
  usage: 'workspace put WORKSPACE',
  summary: 'create or change a workspace of notifications; what no option names is left unchanged',
  options: {
    name: option.text('NAME', 'name of the workspace (its ID)'),
    organization: option.text('NAME', 'organization of the workspace (default)'),
    url: option.text('URL', 'web page of the workspace, for links in messages; empty for none'),
    'execution-mode': option.text('MODE', 'where runs are executed; local sends no notifications (remote)', [
      'remote',
      'agent',
      'local',
    ]),
    'drift-detection': option.text('BOOL', 'whether assessments report drift and checks (false)', yesOrNo),
    'health-assessments': option.text('BOOL', 'whether assessments report failures (false)', yesOrNo),
  },
  run: async (invocation, id = '') => {
    const { options, box } = invocation;
    const stated = statedOf(options);
    const present = await box.workspaces.show(id);
    if (present.isErr() && present.error.type !== 'not_found') throw new SignalboxError(present.error);
    const before = present.isOk() ? keptOf(present.value) : { name: id, organization: 'default' };
    const stored = await orThrow(box.workspaces.put(id, { ...before, ...stated }));
    return print(invocation, stored, () => `workspace ${id} is stored\n`);
  },
});

type Stored = Pick<
  Workspace,
  'name' | 'organization' | 'url' | 'executionMode' | 'driftDetection' | 'healthAssessments'
>;

/** The settable members of a workspace. */
function keptOf({ name, organization, url, executionMode, driftDetection, healthAssessments }: Stored): Stored {
  return { name, organization, url, executionMode, driftDetection, healthAssessments };
}

/** The members that the options set. */
function statedOf(options: Readonly<Record<string, string | undefined>>): Partial<Stored> {
  const { name, organization, url } = options;
  const mode = options['execution-mode'] as Workspace['executionMode'] | undefined;
  return {
    ...optional('name', name),
    ...optional('organization', organization),
    ...(url === undefined ? {} : { url: url === '' ? null : url }),
    // The server validates the value and lists the allowed ones.
    ...optional('executionMode', mode),
    ...optional('driftDetection', flagOption('drift-detection', options['drift-detection'])),
    ...optional('healthAssessments', flagOption('health-assessments', options['health-assessments'])),
  };
}

const remove = command({
  usage: 'workspace delete WORKSPACE',
  summary: 'remove a workspace with its notification configurations',
  run: (invocation, id = '') => confirm(invocation, invocation.box.workspaces.remove(id), `workspace ${id} is removed`),
});

const putUser = command({
  usage: 'user put USER EMAIL',
  summary: 'create or replace a user, who can be a recipient of e-mail configurations',
  options: {
    username: option.text('NAME', 'the name of the user (its ID)'),
    organization: option.text('NAME', 'the organization of the user (default)'),
  },
  run: async (invocation, id = '', email = '') => {
    const { username = id, organization = 'default' } = invocation.options;
    const stored = await orThrow(invocation.box.users.put(id, { username, email, organization }));
    return print(invocation, stored, () => `user ${id} is stored\n`);
  },
});

const removeUser = command({
  usage: 'user delete USER',
  summary: 'remove a user; configurations keep their other users',
  run: (invocation, id = '') => confirm(invocation, invocation.box.users.remove(id), `user ${id} is removed`),
});

/** Workspaces, which events belong to, and users, who receive e-mail. */
export const directoryCommands: readonly Command[] = [list, show, put, remove, putUser, removeUser];
