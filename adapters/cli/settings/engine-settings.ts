import { engineSettings as described } from '../../../src/index.js';
import { isSetting, type SettingForm, type SettingGroup } from '../../../src/options/setting-kinds.js';
import { durationKind, flagKind, type Kind, listKind, numberKind, oneOf, orNone, textKind } from './kind.js';
import type { Setting } from './setting.js';

/** The engine's settings that a server has, by their paths in the options of `createEngine`. */
export const engineSettings: readonly Setting[] = settingsIn(described, '');

function settingsIn(group: SettingGroup, prefix: string): Setting[] {
  return Object.entries(group).flatMap(([name, row]): Setting[] => {
    const key = prefix + name;
    if (!isSetting(row)) return settingsIn(row, `${key}.`);
    if (row.ofServer === undefined) return [];
    const { form, summary } = row.ofServer;
    return [{ key, kind: kindOf(form), summary, default: row.default, ofEngine: true }];
  });
}

function kindOf(form: SettingForm): Kind {
  switch (form.type) {
    case 'duration':
      return durationKind(form.least);
    case 'number':
      return numberKind(form.least, form.most, form.whole ? 'whole' : 'fractions');
    case 'flag':
      return flagKind;
    case 'choice':
      return oneOf(...form.words);
    case 'string': {
      const { takes, pattern, lowerCase } = form;
      return textKind(takes, (text) => (pattern.test(text) ? (lowerCase ? text.toLowerCase() : text) : undefined));
    }
    case 'list':
      return listKind(kindOf(form.of));
    case 'orNone':
      return orNone(kindOf(form.of));
  }
}
