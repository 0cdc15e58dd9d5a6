import { isItem, namesOf, type Value } from './values.js';

/** The items of a variable of the store, by name. It also has predefined members, which take precedence over items. */
export class VariableItems extends Map<string, Value> {
  /** A missing item is empty. */
  override get(name: string): Value {
    return super.get(name) ?? NO_ITEM;
  }

  /** `Keys`, `Values` and `Tuples` are lists sorted by name, `ItemsMap` a map of plain strings. */
  own(name: string): Value {
    switch (name) {
      case 'Keys':
        return namesOf(this);
      case 'Values':
        return namesOf(this).map((key) => itemValue(this.get(key)));
      case 'Tuples':
        return namesOf(this).map((key) => tupleOf(this.get(key)));
      case 'ItemsMap':
        return new Map(namesOf(this).map((key) => [key, itemValue(this.get(key))]));
      default:
        return undefined;
    }
  }
}

const NO_ITEM: Value = { item: true, Key: '', Value: '', Path: '' };

function tupleOf(value: Value): Value {
  return isItem(value) ? { ...value, tuple: true } : value;
}

function itemValue(value: Value): Value {
  return isItem(value) ? value.Value : value;
}
