import { describe, expect, it } from 'vitest';
import { taskNeeds, unmetNeeds } from '../../src/jobs/task-needs.js';
import { groupDocument, jobFrom } from '../support/jobs.js';

function needsOf(task: Record<string, unknown>, Volumes: Record<string, unknown> = {}) {
  const [group] = jobFrom({ TaskGroups: [groupDocument({ Volumes }, task)] }).TaskGroups;
  return taskNeeds(group?.Tasks[0] as never, group?.Volumes ?? null);
}
const volume = (ReadOnly: boolean) => ({ data: { Type: 'host', Source: 'data', ReadOnly } });
const mount = (change: Record<string, unknown> = {}) => ({
  VolumeMounts: [{ Volume: 'data', Destination: 'data', ...change }],
});
const artifact = (GetterSource: string, change: Record<string, unknown> = {}) => ({
  Artifacts: [{ GetterSource, ...change }],
});

describe('what a task asks of its node', () => {
  it.each([
    ['nothing', {}, []],
    ['files from templates', { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'x' }] }, ['templates', 'template_files']],
    ['variables from templates', { Templates: [{ EmbeddedTmpl: 'A=x', DestPath: 'x', Envvars: true }] }, ['templates']],
    ['a file', artifact('https://h/a'), ['artifacts']],
    ['a file that references name', artifact('${url}'), ['artifacts']],
    ['an archive', artifact('https://h/a.tar.gz'), ['artifacts', 'archives']],
    [
      'an archive by its option',
      artifact('https://h/a', { GetterOptions: { archive: 'tar.gz' } }),
      ['artifacts', 'archives'],
    ],
    ['an archive as it is', artifact('https://h/a.zip?archive=false'), ['artifacts']],
    ['a folder', artifact('https://h/a', { GetterMode: 'dir' }), ['artifacts', 'other_archives']],
    ['a folder of an archive', artifact('https://h/a.tgz//sub'), ['artifacts', 'archives']],
    ['folders of an archive by a pattern', artifact('https://h/a.tgz//s*'), ['artifacts', 'other_archives']],
    ['another archive', artifact('https://h/a.tar.xz'), ['artifacts', 'other_archives']],
    ['a packed file', artifact('https://h/a.gz'), ['artifacts', 'other_archives']],
    ['an archive of one file', artifact('https://h/a.zip', { GetterMode: 'file' }), ['artifacts', 'other_archives']],
    ['a repository', artifact('git::https://h/a'), ['artifacts', 'other_artifacts']],
    ['an unchecked server', artifact('https://h/a', { GetterInsecure: true }), ['artifacts', 'insecure_artifacts']],
    ['a user', { User: 'nobody' }, ['user']],
    ['an identity for others', { Identities: [{ Name: 'aws', Audience: ['sts'] }] }, []],
    ['a token in the environment', { Identities: [{ Name: 'aws', Env: true }] }, ['identities']],
    ['a token in a file', { Identities: [{ Name: 'a' }, { Name: 'b', File: true }] }, ['identities']],
    ['its own token', { Identity: { Name: 'default', Env: true } }, ['identities']],
    ['to be a plugin', { CSIPluginConfig: { ID: 'disks', Type: 'node' } }, ['storage_plugins']],
    ['a volume', mount(), ['volumes']],
    ['a mount that is not to be written', mount({ ReadOnly: true }), ['volumes', 'read_only_mounts']],
    ['a mount with a propagation mode', mount({ PropagationMode: 'bidirectional' }), ['volumes', 'mount_options']],
  ])('is %s', (_what, task, expected) => {
    expect(needsOf(task, 'VolumeMounts' in task ? volume(false) : {})).toEqual(expected);
  });

  it('leaves volumes that are read-only as a whole to the volumes of the node', () => {
    expect(needsOf(mount({ ReadOnly: true }), volume(true))).toEqual(['volumes']);
  });

  it('is met by a node that says so, and by one that says nothing', () => {
    expect(unmetNeeds(['templates', 'user'], 'artifacts,templates')).toEqual(['user']);
    expect(unmetNeeds(['templates', 'user'], '')).toEqual(['templates', 'user']);
    expect(unmetNeeds(['templates', 'user'], undefined)).toEqual([]);
  });
});
