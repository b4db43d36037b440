package org.klatch.shop.database;

import java.util.Locale;
import java.util.Map;

/** The result of an audit. */
final class AuditJson {
  private final StringBuilder json = new StringBuilder(1 << 16);

  /** The result as one JSON object. */
  String json(Map<Long, AuditedUser> users, BrokenRules broken, long orders, double seconds) {
    json.append("{\"users\":");
    String separator = "[";
    for (AuditedUser user : users.values()) {
      json.append(separator);
      user.append(json);
      separator = ",";
    }
    json.append(users.isEmpty() ? "[]" : "]").append(",\"broken\":");
    broken.append(json);
    json.append(",\"orders\":").append(orders);
    json.append(String.format(Locale.ROOT, ",\"seconds\":%.3f}", seconds));
    return json.toString();
  }
}
