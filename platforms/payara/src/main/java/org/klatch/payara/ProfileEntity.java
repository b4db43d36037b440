package org.klatch.payara;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.klatch.shop.Profile;

/** A row of the table profiles. */
@Entity
@Table(name = "profiles")
public class ProfileEntity {
  @Id
  @Column(name = "user_id")
  private long user;

  private String password;
  private String name;
  private String address;
  private String email;
  private String card;

  /** For JPA. */
  protected ProfileEntity() {}

  /** The first profile of a new user. */
  ProfileEntity(long user, String password) {
    Profile first = Profile.of(user, 0);
    this.user = user;
    this.password = password;
    name = first.name();
    change(first.address(), first.email(), first.card());
  }

  final void change(String newAddress, String newEmail, String newCard) {
    address = newAddress;
    email = newEmail;
    card = newCard;
  }

  boolean hasPassword(String given) {
    return password.equals(given);
  }

  Profile profile() {
    return new Profile(name, address, email, card);
  }
}
