import { orThrow } from '../../../../src/client/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import { facts, tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { optional } from '../option-values.js';
import { confirm, print } from '../print.js';

const list = command({
  usage: 'policy list [PREFIX]',
  summary: 'list the policies that give tokens their rights',
  run: async (invocation, prefix) => {
    const { value } = await orThrow(invocation.box.policies.list(optional('prefix', prefix)));
    const rows = value.items.map(({ Name, Description }) => [Name, Description]);
    return print(invocation, value.items, () => tableOf(['Name', 'Description'], rows, 'no policies'));
  },
});

const show = command({
  usage: 'policy show POLICY',
  summary: 'show a policy with its rules',
  run: async (invocation, name = '') => {
    const policy = await existing(invocation.box.policies.read(name), `policy ${name}`);
    return print(invocation, policy, ({ Name, Description, Rules, JobACL }) => {
      const job = [JobACL?.Namespace, JobACL?.JobID, JobACL?.Group, JobACL?.Task].filter(Boolean).join('/');
      return `${facts({ Name, Description, Workload: job })}\n${Rules.trimEnd()}\n`;
    });
  },
});

const put = command({
  usage: 'policy put POLICY FILE',
  summary: 'store a policy with the rules of a file, such as `namespace "default" { policy = "read" }`',
  options: {
    description: option.text('TEXT', 'description of the policy'),
    job: option.text('JOB', 'apply the policy to the tasks of this job, in the namespace of the command'),
    group: option.text('GROUP', 'with --job: only to this group'),
    task: option.text('TASK', 'with --group: only to this task'),
  },
  run: async (invocation, name = '', path = '') => {
    const { box, inNamespace, options, terminal } = invocation;
    const { job, group, task } = options;
    if ((group !== undefined && job === undefined) || (task !== undefined && group === undefined)) {
      throw new Stopped('--group needs --job, and --task needs --group', 2);
    }
    const workload = { Namespace: inNamespace.namespace ?? 'default', JobID: job };
    const content = {
      rules: await terminal.read(path),
      ...optional('description', options.description),
      ...(job === undefined
        ? {}
        : { job: { ...workload, JobID: job, ...optional('Group', group), ...optional('Task', task) } }),
    };
    return confirm(invocation, box.policies.put(name, content), `policy ${name} is stored`);
  },
});

const remove = command({
  usage: 'policy delete POLICY',
  summary: 'delete a policy; tokens that name it lose its rights',
  run: async (invocation, name = '') => {
    await existing(invocation.box.policies.read(name), `policy ${name}`);
    return confirm(invocation, invocation.box.policies.remove(name), `policy ${name} is deleted`);
  },
});

export const policyCommands: readonly Command[] = [list, show, put, remove];
