package org.klatch.shop;

import java.util.List;
import java.util.function.BiConsumer;

/** Writes replies. Texts have no characters that JSON escapes. */
public final class Json {
  private final StringBuilder text = new StringBuilder(512);

  /** Appends JSON as it is. */
  public Json raw(String json) {
    text.append(json);
    return this;
  }

  /** Appends a number after JSON. */
  public Json raw(String json, long number) {
    text.append(json).append(number);
    return this;
  }

  /** Appends a text in quotation marks after JSON. */
  public Json raw(String json, String value) {
    text.append(json).append('"').append(value).append('"');
    return this;
  }

  /** Appends an array. */
  public <T> Json list(List<T> items, BiConsumer<Json, T> append) {
    String separator = "[";
    for (T item : items) {
      text.append(separator);
      append.accept(this, item);
      separator = ",";
    }
    return raw(items.isEmpty() ? "[]" : "]");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
